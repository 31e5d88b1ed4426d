/** From stored messages to what a chat template is given. */
import type { Message } from "../contract/message.ts";

/** The names under which templates look for what a reply thought, the most usual first. */
export const thoughtFields = ["reasoning_content", "reasoning", "thinking"] as const;
export type ThoughtField = (typeof thoughtFields)[number];

export interface TemplateMessage extends Partial<Record<ThoughtField, string>> {
  role: "system" | "user" | "assistant";
  content: string;
}

/** Given as a list of parts: what some templates of models that see images take in place of a text. */
export function inParts<M extends TemplateMessage>(messages: readonly M[], roles: readonly M["role"][]): object[] {
  const parts = (text: string) => [{ type: "text", text }];
  return messages.map((each) => (roles.includes(each.role) ? { ...each, content: parts(each.content) } : each));
}

/**
 * The rules, because templates differ in what they bear and many raise an exception:
 * - every system text is merged into one message in front (many templates refuse a second one, or one later);
 * - neighbours of the same role become one message (many templates demand alternation);
 * - a reply without an answer is left out: it has nothing to say to the model.
 */
export function templateMessages(system: string, path: readonly Message[], field: ThoughtField): TemplateMessage[] {
  const systems = system.trim() === "" ? [] : [system];
  const messages: TemplateMessage[] = [];
  for (const message of path) {
    const { text, reasoning } = contentOf(message);
    if (message.role === "system") {
      if (text.trim() !== "") systems.push(text);
      continue;
    }
    if (message.role === "assistant" && text === "") continue;
    const last = messages[messages.length - 1];
    if (last !== undefined && last.role === message.role) {
      last.content = `${last.content}\n\n${text}`;
      if (last[field] === undefined && reasoning !== "") last[field] = reasoning;
      continue;
    }
    messages.push({
      role: message.role,
      content: text,
      ...(reasoning === "" || message.role !== "assistant" ? {} : { [field]: reasoning }),
    });
  }
  if (systems.length > 0) messages.unshift({ role: "system", content: systems.join("\n\n") });
  return messages;
}

/** For templates that know no system role: its text in front of the first user message. */
export function foldSystem(messages: readonly TemplateMessage[]): TemplateMessage[] {
  const [system, ...rest] = messages;
  if (system?.role !== "system") return [...messages];
  const first = rest.findIndex((message) => message.role === "user");
  if (first < 0) return [{ role: "user", content: system.content }, ...rest];
  return rest.map((message, index) =>
    index === first ? { ...message, content: `${system.content}\n\n${message.content}` } : message,
  );
}

/** The blocks of a message, joined by kind. */
export function contentOf(message: Pick<Message, "blocks">): { text: string; reasoning: string } {
  let text = "";
  let reasoning = "";
  for (const block of message.blocks) {
    if (block.type === "text") text += block.text;
    else reasoning += block.text;
  }
  return { text, reasoning };
}
