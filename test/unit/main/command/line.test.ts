/** The command line against the scripted engine in a real child process: output, errors, exit codes. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCli } from "../../../../main/command/line.ts";
import { createServer } from "../../../../main/server/server.ts";
import { createDouble } from "../../contract/double.ts";

const scripted = resolve(import.meta.dirname, "../../../fixtures/scripted-engine-child.ts");
let data: string;

beforeAll(() => {
  data = mkdtempSync(join(tmpdir(), "halogen-cli-"));
  mkdirSync(join(data, "models"));
  writeFileSync(join(data, "models", "Scripted.gguf"), "GGUF");
});
afterAll(() => rmSync(data, { recursive: true, force: true }));

/** The page's for the plan of the scripted engine. */
const words = "The context is the model's own, 2,048 tokens. Keys and values: F16, 8 MiB.";

interface Run {
  code: number;
  out: string;
  err: string;
}

interface RunOptions {
  stdin?: string;
  variables?: Record<string, string>;
  terminal?: boolean;
  /** Ctrl-C as soon as this has been printed. */
  interruptAt?: RegExp;
}

async function halogen(
  typed: string[],
  { stdin = "", variables = {}, terminal = false, interruptAt }: RunOptions = {},
): Promise<Run> {
  const abort = new AbortController();
  let out = "";
  let err = "";
  const look = () => {
    if (interruptAt?.test(out + err)) abort.abort();
  };
  const code = await runCli({
    arguments: typed,
    variables: { HALOGEN_DATA: data, HALOGEN_ENGINE: scripted, ...variables },
    signal: abort.signal,
    io: {
      stdin: Readable.from([Buffer.from(stdin)]),
      terminal,
      out(text) {
        out += text;
        look();
      },
      err(text) {
        err += text;
        look();
      },
    },
  });
  return { code, out, err };
}

describe("usage", () => {
  test("without a command the overview goes to standard error, with 2", async () => {
    const { code, out, err } = await halogen([]);
    expect([code, out]).toEqual([2, ""]);
    for (const name of ["run", "serve", "models", "doctor"]) expect(err).toMatch(new RegExp(`^  ${name} `, "m"));
  });

  test.each([["help"], ["--help"], ["-h"]])("%s prints it to standard output, with 0", async (word) => {
    expect(await halogen([word])).toMatchObject({
      code: 0,
      err: "",
      out: expect.stringContaining("Usage: halogen <command>"),
    });
  });

  test("--version", async () => {
    expect(await halogen(["--version"])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^halogen \d+\.\d+\.\d+\n$/),
    });
  });

  test.each(["run", "serve", "models", "doctor"])("%s --help lists every option it takes", async (name) => {
    const { code, out } = await halogen([name, "--help"]);
    expect(code).toBe(0);
    const { commands } = await import("../../../../main/command/list.ts");
    const options = Object.keys(commands.find((command) => command.name === name)?.options ?? {});
    for (const option of options) expect(out).toContain(`--${option}`);
  });

  test.each<[string[], string]>([
    [["bogus"], '"bogus"'],
    [["run", "--bogus", "x"], "--bogus"],
    [["run"], "no prompt"],
    [["run", "List", "fruits"], '"fruits"'],
    [["run", "--max-tokens", "0", "x"], '--max-tokens must be a whole number from 1 to 1000000000, not "0"'],
    [["run", "--max-tokens", "1.5", "x"], "1.5"],
    [["run", "--max-tokens", "", "x"], "--max-tokens"],
    [["run", "--temperature", "hot", "x"], '"hot"'],
    [["run", "--temperature", "9", "x"], "from 0 to 5"],
    [["run", "--greedy", "--temperature", "1", "x"], "contradict"],
    [["run", "--seed", "-1", "x"], "--seed"],
    [["run", "--logit-bias", "12", "x"], "like 123=-1.5"],
    [["run", "--logit-bias", "=1", "x"], "by its number or its text"],
    [["run", "--logit-bias", "a=2000", "x"], "--logit-bias"],
    [["run", "--suppress", "", "x"], "--suppress"],
    [["run", "--samplers", "top_k;best", "x"], "--samplers"],
    [["run", "--stop", "", "x"], "--stop"],
    [["run", "--json", "--regex", "a", "x"], "--json and --regex"],
    [["run", "-"], "empty"],
    [["serve", "--port", "70000"], "65535"],
    [["models", "x"], '"x"'],
  ])("%j is refused with 2 and says what is wrong", async (words, part) => {
    const { code, out, err } = await halogen(words);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain(part);
    expect(err).toContain("Usage: halogen");
    expect(err).not.toMatch(/^\s+at /m);
  });

  test("a broken environment is an error of its own", async () => {
    const { code, err } = await halogen(["models"], { variables: { HALOGEN_DATA: "relative" } });
    expect(code).toBe(1);
    expect(err).toContain("[setting.invalid]");
  });
});

describe("run", () => {
  test("prints the text to standard output, and what the model was given and why to standard error", async () => {
    expect(await halogen(["run", "Grüße 模型 😀"])).toEqual({
      code: 0,
      out: "You said: Grüße 模型 😀\n",
      err: `Scripted: ${words}\n`,
    });
  });

  test("what the model was given takes the place of the progress on a terminal", async () => {
    const { err } = await halogen(["run", "hello"], { terminal: true });
    expect(err).toMatch(/loading the model/);
    // What comes behind a carriage return is written over what stood there.
    const seen = err.split("\n").map((line) => line.slice(line.lastIndexOf("\r") + 1));
    expect(seen).toContain(`Scripted: ${words}`);
  });

  test("reads the prompt from standard input", async () => {
    expect(await halogen(["run", "-"], { stdin: "two\nlines\n" })).toMatchObject({ out: "You said: two\nlines\n" });
  });

  test("thinking goes to standard error", async () => {
    const { out, err } = await halogen(["run", 'script:["<think>plan</think>answer"]']);
    expect(out).toBe("answer\n");
    expect(err).toContain("plan");
  });

  test("counts and rates are printed when asked for", async () => {
    const { out, err } = await halogen(["run", "--stats", "--seed", "7", "hello"]);
    expect(out).toBe("You said: hello\n");
    expect(err).toMatch(/\d+ prompt tokens .* 15 generated .* seed 7, complete/);
  });

  test("the token limit ends it", async () => {
    expect(await halogen(["run", "-n", "3", "hello"])).toMatchObject({ code: 0, out: "You\n" });
    const cut = await halogen(["run", "-n", "3", "--json", "hello"]);
    expect([cut.code, cut.err]).toEqual([1, expect.stringContaining("cut off")]);
  });

  test("a model by file name, by name in any case, and by path", async () => {
    const elsewhere = join(data, "other 模型.gguf");
    writeFileSync(elsewhere, "GGUF");
    for (const model of ["Scripted.gguf", "scripted", elsewhere]) {
      expect(await halogen(["run", "-m", model, "hi"])).toMatchObject({ code: 0, out: "You said: hi\n" });
    }
  });

  test("a model that is not there names what there is", async () => {
    const { code, out, err } = await halogen(["run", "-m", "nothing", "hi"]);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(/"nothing".*\[model\.not_found\]\n.*Scripted\.gguf/);
  });

  test("an error in the reply keeps what came before it, and ends with 1", async () => {
    const { code, out, err } = await halogen([
      "run",
      'script:["Half a ",{"fail":{"code":"memory.exhausted","message":"no room"}}]',
    ]);
    expect(code).toBe(1);
    expect(out).toBe("Half a \n");
    expect(err).toMatch(/^halogen: no room \[memory\.exhausted\]/m);
  });

  test("a crash of the engine is told with its cause, and ends with 1", async () => {
    const { code, out, err } = await halogen(["run", 'script:["Before. ",{"crash":"SIGKILL"}]']);
    expect(code).toBe(1);
    // What the process had not yet sent died with it.
    expect(out).toMatch(/^B(e(f(o(r(e(\.( )?)?)?)?)?)?)?\n$/);
    expect(err).toMatch(/SIGKILL.*\[engine\.crashed\]/);
  });

  test("Ctrl-C ends the reply with 130, also while the engine hangs", async () => {
    for (const hang of ["cancellable", "deaf"]) {
      const run = await halogen(["run", `script:["Going on ",{"hang":"${hang}"}]`], { interruptAt: /Going on/ });
      expect(run).toMatchObject({ code: 130, out: "Going on \n" });
    }
  });

  test("a prompt beyond the context names both counts", async () => {
    const { code, err } = await halogen(["run", "--context", "64", "word ".repeat(100)]);
    expect(code).toBe(1);
    expect(err).toMatch(/5\d\d.*64.*\[context\.exceeded\]/);
  });

  test("nothing is stored, unless it is asked for", async () => {
    const { existsSync } = await import("node:fs");
    await halogen(["run", "hello"]);
    expect(existsSync(join(data, "halogen.db"))).toBe(false);
    await halogen(["run", "--save", "hello"]);
    expect(existsSync(join(data, "halogen.db"))).toBe(true);
  });

  test("an engine that cannot be loaded is an error in words", async () => {
    const { code, err } = await halogen(["run", "-m", join(data, "models", "Scripted.gguf"), "hi"], {
      variables: { HALOGEN_ENGINE: join(data, "none.ts") },
    });
    expect(code).toBe(1);
    expect(err).toContain("none.ts");
    expect(err).not.toMatch(/^\s+at /m);
  });
});

describe("models and doctor", () => {
  test("models lists, and --json gives the whole", async () => {
    const plain = await halogen(["models"]);
    expect(plain.out).toMatch(/^FILE .*\nScripted\.gguf +llama +F32 /);
    const { models } = JSON.parse((await halogen(["models", "--json"])).out);
    expect(models).toMatchObject([{ fileName: "Scripted.gguf", state: "available", error: null }]);
  });

  test("models --plan says what each would be given", async () => {
    const { code, out } = await halogen(["models", "--plan"]);
    expect(code).toBe(0);
    expect(out).toMatch(/^FILE .*\nScripted\.gguf +llama /);
    expect(out).toContain(`\nScripted: ${words}\n`);
  });

  test("no model is no error: it says where to put one", async () => {
    const empty = mkdtempSync(join(tmpdir(), "halogen-cli-"));
    const { code, out, err } = await halogen(["models"], { variables: { HALOGEN_DATA: empty } });
    expect([code, out]).toEqual([0, ""]);
    expect(err).toContain(join(empty, "models"));
    rmSync(empty, { recursive: true });
  });

  test("doctor names versions, devices with reasons, pools and folders", async () => {
    const { code, out } = await halogen(["doctor"]);
    expect(code).toBe(0);
    for (const part of [process.version, data, "Scripted", "ram", "llama", "Scripted.gguf"])
      expect(out).toContain(part);
    const findings = JSON.parse((await halogen(["doctor", "--json"])).out);
    expect(findings).toMatchObject({ engine: { chosen: "cpu" }, problems: [], folders: { data } });
  });

  test("doctor still speaks when the engine cannot be started", async () => {
    const { code, out } = await halogen(["doctor"], { variables: { HALOGEN_ENGINE: join(data, "none.ts") } });
    expect(code).toBe(1);
    expect(out).toContain("cannot be started");
    expect(out).toContain("none.ts");
  });
});

describe("serve", () => {
  test("prints an address that opens, and ends with 0 at Ctrl-C", async () => {
    const { code, out } = await halogen(["serve", "--port", "0"], { interruptAt: /Ctrl-C/ });
    expect(code).toBe(0);
    expect(out).toMatch(/^Halogen is at http:\/\/127\.0\.0\.1:\d+\/\?token=\S{32}\n$/);
  });

  test("says what the model was given once it is loaded", async () => {
    const { code, err } = await halogen(["serve", "--port", "0"], { interruptAt: /Keys and values/ });
    expect(code).toBe(0);
    expect(err).toContain(`Scripted: ${words}\n`);
  });

  test("a port in use is named, with 1", async () => {
    const server = await createServer({
      service: createDouble().service,
      pageFolder: data,
      host: "127.0.0.1",
      port: 0,
      log: () => undefined,
    });
    const { code, err } = await halogen(["serve", "--port", String(server.port)]);
    expect(code).toBe(1);
    expect(err).toMatch(new RegExp(`${server.port}.*\\[transport\\.port_in_use\\]`));
    await server.close();
  });
});
