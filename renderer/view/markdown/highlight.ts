/**
 * Highlighting with shiki's JavaScript regular expressions (no WebAssembly, no eval). Colours become class names, so nothing needs an
 * inline style. Whole lines are tokenised once and the grammar's state is kept: a growing block costs its new lines only.
 */
import type { GrammarState, HighlighterCore, ThemedToken } from "shiki/core";
import { grammarName, loadGrammar } from "./language.ts";

export interface CodePiece {
  text: string;
  kind: string;
}
/** Some whole lines, each as pieces. */
export type CodeLines = readonly (readonly CodePiece[])[];

const theme = "halogen";
let ready: Promise<HighlighterCore> | null = null;
const loaded = new Map<string, Promise<HighlighterCore>>();

async function createHighlighter(): Promise<HighlighterCore> {
  const { createCssVariablesTheme, createHighlighterCore, createJavaScriptRegexEngine } = await import("./shiki.ts");
  const variables = createCssVariablesTheme({ name: theme, variablePrefix: "--code-" });
  return createHighlighterCore({
    themes: [variables],
    langs: [],
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  });
}

function highlighterFor(language: string): Promise<HighlighterCore> {
  const known = loaded.get(language);
  if (known) return known;
  ready ??= createHighlighter();
  const loading = Promise.all([ready, loadGrammar(language)]).then(async ([highlighter, grammar]) => {
    await highlighter.loadLanguage(grammar.default);
    return highlighter;
  });
  loaded.set(language, loading);
  return loading;
}

/** "var(--code-token-keyword)" -> "keyword". */
function kindOf(token: ThemedToken): string {
  return /--code-token-([a-z-]+)/.exec(token.color ?? "")?.[1] ?? "";
}

export interface LineHighlighter {
  /** Pieces of the lines of `text`, which follow those of the last call. */
  next(text: string): CodeLines;
}

/** Null when the language is not known here. */
export async function createLineHighlighter(info: string): Promise<LineHighlighter | null> {
  const language = grammarName(info);
  if (language === null) return null;
  const highlighter = await highlighterFor(language);
  let state: GrammarState | undefined;
  return {
    next(text) {
      const tokens = highlighter.codeToTokensBase(text, {
        lang: language,
        theme,
        tokenizeMaxLineLength: 5000,
        // Per line. The first line of a language compiles its expressions, and on a busy machine half a second is not enough.
        tokenizeTimeLimit: 2000,
        ...(state ? { grammarState: state } : {}),
      });
      state = highlighter.getLastGrammarState(tokens) ?? state;
      return tokens.map((line) => line.map((token) => ({ text: token.content, kind: kindOf(token) })));
    },
  };
}
