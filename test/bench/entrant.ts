/** Who runs beside whom: each engine with each of its settings. */
import { join, resolve } from "node:path";
import { type Asked, ask } from "../peer/asked.ts";

const root = resolve(import.meta.dirname, "../..");
const theirs = (short: string): string => join(root, ".cache", `${short}-build`, `halogen-${short}-peer`);
export const scratch = join(root, ".cache", "bench");
/** llama.cpp's program, also for what only it does (test/peer/llama_peer.cpp). */
export const llamaProgram = theirs("llama");
export const ours = "Halogen";

export interface Entrant {
  engine: string;
  /** Of the engine; "" for ours, which has none. The better one counts. */
  setting: string;
  /** Settings of an engine with the same attention differ in how weights lie: which is faster does not turn with the length of the prompt. */
  attention: string;
  open(path: string, context: number): Promise<Asked>;
}

const rivals = [
  {
    engine: "llama.cpp",
    program: llamaProgram,
    settings: [
      { setting: "flash attention", attention: "flash", words: ["--flash", "on"] },
      { setting: "no flash attention", attention: "plain", words: ["--flash", "off"] },
    ],
  },
  {
    engine: "ik_llama.cpp",
    program: theirs("ik"),
    // Fused mixtures of experts and reused graphs are its defaults.
    settings: [
      { setting: "flash attention, repacked", attention: "flash", words: ["--flash", "on", "--repack", "on"] },
      { setting: "flash attention", attention: "flash", words: ["--flash", "on", "--repack", "off"] },
    ],
  },
] as const;

export function entrants(threads: number, withIk: boolean): Entrant[] {
  const enter = (
    engine: string,
    program: string,
    { setting, attention, words }: { setting: string; attention: string; words: readonly string[] },
  ): Entrant => ({
    engine,
    setting,
    attention,
    open: (path, context) =>
      ask(program, [path, ...words, "--threads", String(threads), "--context", String(context)], scratch),
  });
  const words = ["--serve", "--kv", "f16"];
  return [
    enter(ours, join(root, "build", "halogen-bench"), { setting: "", attention: "", words }),
    ...rivals
      .filter(({ engine }) => withIk || engine !== "ik_llama.cpp")
      .flatMap(({ engine, program, settings }) => settings.map((one) => enter(engine, program, one))),
  ];
}

/** Of the settings of one engine that have the same attention, the one with the least `time`. */
export function quickest(all: readonly Entrant[], time: (entrant: Entrant) => number): Entrant[] {
  const best = new Map<string, Entrant>();
  for (const entrant of all) {
    const key = `${entrant.engine} ${entrant.attention}`;
    const other = best.get(key);
    if (other === undefined || time(entrant) < time(other)) best.set(key, entrant);
  }
  return all.filter((entrant) => [...best.values()].includes(entrant));
}

export const title = ({ engine, setting }: Entrant): string => (setting === "" ? engine : `${engine}, ${setting}`);
