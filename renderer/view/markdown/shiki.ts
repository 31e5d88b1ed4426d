/** What is used of shiki, as one chunk that is loaded with the first code block. */
export { createCssVariablesTheme, createHighlighterCore } from "shiki/core";
export { createJavaScriptRegexEngine } from "shiki/engine/javascript";
