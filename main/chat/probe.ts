/**
 * What a chat template offers, found out by rendering it with and without each thing and comparing. A variable counts only for what it changes;
 * so an unknown model's switch works as well as a famous one's.
 */
import type { TemplateProbe, TemplateSetting, TemplateVariables } from "../../app/chat/feature.ts";
import { inParts, type TemplateMessage, thoughtFields } from "../../app/chat/template-input.ts";
import { findTagsAround, type ThinkingTags, tagsInTemplate, thinkingStart } from "../../app/chat/thinking.ts";
import type { ChatFeatures } from "../../app/contract/model.ts";
import { dropped, probePast } from "./probe-past.ts";
import type { ChatTemplate } from "./template.ts";

const now = new Date(2026, 0, 2, 3, 4, 5);
/** Words that no template holds. */
const word = {
  user: "Zuserz",
  system: "Zsystemz",
  answer: "Zanswerz",
  thought: "Zthoughtz",
  tool: "ztoolz",
  level: "zlevelz",
};
const system: TemplateMessage = { role: "system", content: word.system };
const user: TemplateMessage = { role: "user", content: word.user };
const answer: TemplateMessage = { role: "assistant", content: word.answer };
const thinkers = thoughtFields.map((field) => ({ field, message: { ...answer, [field]: word.thought } }));
const tools = [
  {
    type: "function",
    function: {
      name: word.tool,
      description: "A tool.",
      parameters: { type: "object", properties: { x: { type: "string", description: "A text." } }, required: ["x"] },
    },
  },
];
/** Levels that are worth a try where a template prints whatever it is given. */
const usualLevels = ["low", "medium", "high"];
const offWords = /^(?:none|off|no|false|disabled?|no_?think(?:ing)?)$/i;
const onWords = /^(?:on|yes|true|enabled?|think(?:ing)?)$/i;
/** Words in the system text that some templates take as a switch. */
const flags = ["/no_think", "/nothink"];
/** Milliseconds that all renders of one template may take together. */
const patience = 2000;

const nothing: ChatFeatures = {
  system: false,
  tools: false,
  thinking: "none",
  thinks: false,
  effort: null,
  pastThoughts: dropped,
};

/** Of a template that fails on the plainest question, nothing is known. */
export const noProbe: TemplateProbe = {
  works: false,
  features: nothing,
  tags: null,
  on: null,
  off: null,
  effort: null,
  keep: null,
  thoughts: thoughtFields[0],
  parts: [],
};

export function probeTemplate(template: ChatTemplate): TemplateProbe {
  const end = performance.now() + patience;
  let parts: TemplateProbe["parts"] = [];
  /** Null when the template refuses, or there is no time left. */
  const render = (
    messages: readonly TemplateMessage[],
    variables: object = {},
    prompt = true,
    roles = parts,
  ): string | null => {
    if (performance.now() > end) return null;
    try {
      const given = { messages: inParts(messages, roles), add_generation_prompt: prompt };
      return template.render({ ...given, bos_token: "", eos_token: "", ...variables }, now);
    } catch {
      // A refusal is an answer too: this is not offered.
      return null;
    }
  };
  for (const [messages, { role, content }] of [
    [[user], user],
    [[system, user], system],
    [[user, answer, user], answer],
  ] as const) {
    const shown = (roles: TemplateProbe["parts"]): boolean =>
      render(messages, {}, true, roles)?.includes(content) ?? false;
    if (!shown(parts) && shown([...parts, role])) parts = [...parts, role];
  }
  const plain = render([user]);
  if (plain === null) return noProbe;

  const tagsWith = (variables: TemplateVariables): ThinkingTags | null => {
    const without = render([user, answer], variables, false) ?? "";
    for (const { message } of thinkers) {
      const found = findTagsAround(render([user, message], variables, false) ?? "", word.thought, without);
      if (found !== null) return found;
    }
    return null;
  };
  const ask = (variables: TemplateVariables): string | null => render([user], variables);
  let tags = tagsWith({}) ?? tagsInTemplate(template.source);
  let switches = findSwitch(template, ask, plain, tags);
  if (tags === null && switches !== null) {
    // Some print thoughts only while they are switched on; and with the tags, the switch is seen better.
    tags = tagsWith(switches.on.variables) ?? tagsWith(switches.off.variables);
    switches = findSwitch(template, ask, plain, tags);
  }
  const flag = switches === null ? findFlag(template, render, tags) : null;
  const on = switches?.on ?? (flag === null ? null : { variables: {}, systemFlag: "" });
  const off = switches?.off ?? flag;
  const effort = findEffort(template, ask, on, off);
  const thinking = on !== null && off !== null ? "switch" : tags !== null || effort !== null ? "always" : "none";
  const past = probePast({
    template,
    shows: (field, variables) => {
      const prompt = render([user, { ...answer, [field]: word.thought }, user], variables);
      return prompt === null ? null : prompt.includes(word.thought);
    },
    thinking: on?.variables ?? {},
    answering: off?.variables ?? {},
  });
  return {
    works: true,
    features: {
      system: render([system, user])?.includes(word.system) ?? false,
      tools: render([user], { tools })?.includes(word.tool) ?? false,
      thinking,
      thinks: thinking === "always" || (thinking === "switch" && thinksByItself(plain, on, off, ask)),
      effort: effort === null ? null : { levels: effort.levels, initial: effort.initial },
      pastThoughts: past.features,
    },
    tags,
    on,
    off,
    effort: effort?.variable ?? null,
    keep: past.keep,
    thoughts: past.field,
    parts,
  };
}

type Ask = (variables: TemplateVariables) => string | null;

/** The variables that turn thinking on and off; all of them together, for templates that know several names. */
function findSwitch(
  template: ChatTemplate,
  ask: Ask,
  plain: string,
  tags: ThinkingTags | null,
): { on: TemplateSetting; off: TemplateSetting } | null {
  const on: TemplateVariables = {};
  const off: TemplateVariables = {};
  for (const [name, words] of template.variables) {
    // One that prints what it is given, or is compared with words, takes a level.
    const printed = ask({ [name]: word.level })?.includes(word.level) ?? false;
    const texts = words.map((each) => [each, ask({ [name]: each })] as const).filter(([, text]) => text !== null);
    if (printed || new Set(texts.map(([, text]) => text)).size > 1) {
      const closed = texts.find(
        ([each, text]) => offWords.test(String(each)) && text !== null && !startsInside(text, tags),
      );
      const shut = closed ?? texts.find(([, text]) => text !== null && isShut(text, tags));
      const open = texts.filter(([each, text]) => text !== shut?.[1] && !offWords.test(String(each)));
      if (shut === undefined || open.length === 0) continue;
      const chosen =
        open.find(([each]) => onWords.test(String(each))) ?? open.find(([, text]) => text === plain) ?? open[0];
      if (chosen !== undefined) [on[name], off[name]] = [chosen[0], shut[0]];
      continue;
    }
    const [yes, no] = [ask({ [name]: true }), ask({ [name]: false })];
    if (yes === null || no === null || yes === no) continue;
    const turned =
      (isShut(yes, tags) && !isShut(no, tags)) || (/^(?:no|skip|disable|hide)_/.test(name) && !isShut(no, tags));
    [on[name], off[name]] = turned ? [false, true] : [true, false];
  }
  if (Object.keys(on).length === 0) return null;
  return { on: { variables: on, systemFlag: "" }, off: { variables: off, systemFlag: "" } };
}

/** The thoughts are over before they began: closed at the end of the prompt, or an empty block of them behind the question. */
function isShut(prompt: string, tags: ThinkingTags | null): boolean {
  if (tags === null) return false;
  const behind = prompt.slice(prompt.lastIndexOf(word.user));
  const opened = behind.indexOf(tags.open);
  const empty =
    opened >= 0 &&
    behind
      .slice(opened + tags.open.length)
      .trimStart()
      .startsWith(tags.close);
  return empty || thinkingStart(prompt, tags) === "text";
}

function startsInside(prompt: string, tags: ThinkingTags | null): boolean {
  return tags !== null && thinkingStart(prompt, tags) === "reasoning";
}

/** For templates that look for a word of the user's: it must close the thoughts, and not be printed. */
function findFlag(
  template: ChatTemplate,
  render: (messages: readonly TemplateMessage[]) => string | null,
  tags: ThinkingTags | null,
): TemplateSetting | null {
  const asked = (content: string): string => render([{ role: "system", content }, user]) ?? "";
  for (const flag of flags) {
    if (!template.source.includes(flag)) continue;
    const without = asked(word.system);
    const prompt = asked(`${word.system} ${flag}`);
    if (isShut(prompt, tags) && !isShut(without, tags)) return { variables: {}, systemFlag: flag };
  }
  return null;
}

/** A variable whose words make different prompts while the model thinks. */
function findEffort(
  template: ChatTemplate,
  ask: Ask,
  on: TemplateSetting | null,
  off: TemplateSetting | null,
): { variable: string; levels: string[]; initial: string | null } | null {
  for (const [variable, words] of template.variables) {
    const thinking = (level: string): string | null => ask({ ...(on?.variables ?? {}), [variable]: level });
    const printed = thinking(word.level)?.includes(word.level) ?? false;
    const named = words.filter((each): each is string => typeof each === "string");
    const tried = printed ? [...new Set([...usualLevels, ...named])] : named;
    const bare: TemplateVariables = { ...(on?.variables ?? {}) };
    delete bare[variable];
    const plain = ask(bare);
    const levels: string[] = [];
    // What makes the same prompt as another level, or as no thoughts at all, is no level.
    const seen = new Set<string | null>(off === null || off.systemFlag !== "" ? [] : [ask(off.variables)]);
    for (const level of tried) {
      const text = thinking(level);
      if (text === null || seen.has(text) || level === off?.variables[variable] || offWords.test(level)) continue;
      seen.add(text);
      levels.push(level);
    }
    if (levels.length < 2) continue;
    const initial = levels.find((level) => thinking(level) === plain) ?? null;
    return { variable, levels: sortLevels(levels), initial };
  }
  return null;
}

const order = ["minimal", "low", "medium", "adaptive", "enabled", "high", "xhigh", "max"];

function sortLevels(levels: readonly string[]): string[] {
  const place = (level: string): number => (order.includes(level) ? order.indexOf(level) : order.length);
  return [...levels].sort((a, b) => place(a) - place(b));
}

function thinksByItself(plain: string, on: TemplateSetting | null, off: TemplateSetting | null, ask: Ask): boolean {
  if (off !== null && off.systemFlag === "" && ask(off.variables) === plain) return false;
  if (on !== null && ask(on.variables) === plain) return true;
  return true;
}
