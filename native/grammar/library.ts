/** xgrammar (Apache-2.0): from a grammar and a position in it to the set of tokens that may come, as WebAssembly. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { HalogenError } from "../../app/error.ts";

declare const halogenBundled: boolean | undefined;
declare const require: (name: string) => unknown;

interface Disposable {
  dispose(): void;
}

/** As far as it is used here. */
interface Matcher extends Disposable {
  acceptToken(id: number): boolean;
  getNextTokenBitmask(): Promise<Int32Array>;
}

export interface GrammarLibrary {
  TokenizerInfo: {
    createTokenizerInfo(
      vocabulary: string[],
      type: "byte_level",
      spaceBefore: boolean,
      size: number,
      stops: number[],
    ): Promise<Disposable>;
  };
  GrammarCompiler: {
    createGrammarCompiler(
      info: Disposable,
      cache: boolean,
    ): Promise<Disposable & { compileGrammar(ebnf: string): Promise<Disposable> }>;
  };
  GrammarMatcher: { createGrammarMatcher(compiled: Disposable, stops: number[]): Promise<Matcher> };
}

let loaded: GrammarLibrary | null = null;

export function loadGrammarLibrary(): GrammarLibrary {
  try {
    loaded ??= typeof halogenBundled === "undefined" ? evaluate() : (require("@mlc-ai/web-xgrammar") as GrammarLibrary);
    return loaded;
  } catch (error) {
    throw new HalogenError("engine.unavailable", `The grammar compiler could not be loaded: ${String(error)}`, {
      hint: "Run `npm install` again.",
      cause: error,
    });
  }
}

/** Its package calls itself an ES module and is none, so that neither `import` nor `require` of Node takes it. */
function evaluate(): GrammarLibrary {
  const ownRequire = createRequire(import.meta.url);
  const path = ownRequire.resolve("@mlc-ai/web-xgrammar");
  const source = readFileSync(path, "utf8").replace("await import('module')", "require('module')");
  const module = { exports: {} };
  new Function("exports", "module", "require", "__filename", source)(module.exports, module, ownRequire, path);
  return module.exports as GrammarLibrary;
}
