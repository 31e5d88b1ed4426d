/** A model's own chat template, run as the training framework runs it. */
import { Environment } from "@huggingface/jinja";
import { HalogenError } from "../../app/error.ts";
import { type Program, parseAsWritten, parseTemplate, runTemplate } from "./jinja.ts";
import { pythonFunctions } from "./python.ts";
import { textFunctions } from "./text-method.ts";
import { type ThinkingVariables, thinkingVariables } from "./variable.ts";

/** What `raise_exception` in a template throws: the template's own words. */
class Refusal extends Error {}

export interface ChatTemplate {
  source: string;
  variables: ThinkingVariables;
  /** Throws template.failed; `detail.refused` is true when the template itself raised. */
  render(variables: Record<string, unknown>, now: Date): string;
}

/** Throws template.failed when the template cannot be read. */
export function compileTemplate(source: string): ChatTemplate {
  const program = read(source);
  return {
    source,
    variables: thinkingVariables(parseAsWritten(source)),
    render: (variables, now) => {
      const environment = new Environment();
      const globals: Record<string, unknown> = {
        false: false,
        true: true,
        none: null,
        False: false,
        True: true,
        None: null,
        range,
        raise_exception: (message: unknown) => {
          throw new Refusal(typeof message === "string" ? message : "without a reason");
        },
        ...pythonFunctions,
        ...textFunctions,
        strftime_now: (format: unknown) => formatTime(now, String(format)),
      };
      for (const [name, value] of Object.entries({ ...globals, ...variables })) environment.set(name, value);
      try {
        return runTemplate(program, environment);
      } catch (error) {
        throw failed(error);
      }
    },
  };
}

function read(source: string): Program {
  try {
    return parseTemplate(source);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new HalogenError("template.failed", `The model's chat template cannot be read: ${reason}`, {
      hint: "The template in the model file is broken or uses something this version does not know. Choose another model.",
      detail: { refused: false },
      cause: error,
    });
  }
}

function failed(error: unknown): HalogenError {
  const reason = error instanceof Error ? error.message : String(error);
  if (error instanceof Refusal) {
    return new HalogenError("template.failed", `The model's chat template refuses this conversation: ${reason}`, {
      hint: "Change the conversation accordingly (edit or delete a message), or choose another model.",
      detail: { refused: true, reason },
      cause: error,
    });
  }
  return new HalogenError("template.failed", `The model's chat template failed: ${reason}`, {
    hint: "The template in the model file does not work with this conversation. Choose another model.",
    detail: { refused: false, reason },
    cause: error,
  });
}

/** As Jinja's own sandbox has it. */
const longestRange = 100_000;

function range(start: number, stop?: number, step?: number): number[] {
  const from = stop === undefined ? 0 : start;
  const to = stop ?? start;
  const by = step ?? 1;
  if (by === 0) throw new Error("range() with a step of zero");
  if (Math.abs((to - from) / by) > longestRange) throw new Error(`range() of more than ${longestRange} numbers`);
  const values: number[] = [];
  for (let value = from; by > 0 ? value < to : value > to; value += by) values.push(value);
  return values;
}

const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const months = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

/** strftime in local time with English names, as the models saw it in training. */
export function formatTime(now: Date, format: string): string {
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = days[now.getDay()] ?? "";
  const month = months[now.getMonth()] ?? "";
  const fields: Record<string, string> = {
    Y: String(now.getFullYear()),
    y: two(now.getFullYear() % 100),
    m: two(now.getMonth() + 1),
    d: two(now.getDate()),
    e: String(now.getDate()).padStart(2, " "),
    H: two(now.getHours()),
    I: two(now.getHours() % 12 || 12),
    M: two(now.getMinutes()),
    S: two(now.getSeconds()),
    p: now.getHours() < 12 ? "AM" : "PM",
    A: day,
    a: day.slice(0, 3),
    B: month,
    b: month.slice(0, 3),
    "%": "%",
  };
  return format.replace(/%(-?)([A-Za-z%])/g, (whole, bare: string, letter: string) => {
    const field = fields[letter];
    if (field === undefined) return whole;
    return bare === "" ? field : field.replace(/^[0 ]+(?=.)/, "");
  });
}
