/**
 * Markdown as blocks, for text that grows: what is finished is lexed once and keeps its identity, only the last block is lexed again.
 * There is no maths and no live HTML: tags stay tokens whose raw text is shown.
 */
import { Lexer, type Token, Tokenizer, type Tokens } from "marked";

export type { Token, Tokens };

/** A tag changes nothing of what follows: an unclosed <a> or <pre> in a reply is only text. */
class TextTokenizer extends Tokenizer {
  override tag(src: string): Tokens.Tag | undefined {
    const token = super.tag(src);
    if (token) {
      this.lexer.state.inLink = false;
      this.lexer.state.inRawBlock = false;
    }
    return token;
  }
}

function lex(text: string): Token[] {
  return [...new Lexer({ gfm: true, breaks: true, tokenizer: new TextTokenizer() }).lex(text)];
}

/** All blocks of a finished text. */
export function markdownBlocks(text: string): readonly Token[] {
  return lex(normalise(text));
}

function normalise(text: string): string {
  return text.includes("\r") ? text.replace(/\r\n|\r/g, "\n") : text;
}

const openingFence = /^(`{3,}|~{3,})([^\n]*)\n/;
/** A list may still go on when all that follows it is the beginning of a marker. */
const markerBeginning = /^\s{0,3}(?:\d{1,9}[.)]?|[-*+])?\s*$/;
/** A list longer than this is committed item by item. */
const longList = 2000;

export interface BlockSplitter {
  /** The blocks of `text`; a text that continues the last one costs its last block only. Not for a finished text: see `markdownBlocks`. */
  update(text: string): readonly Token[];
}

export function createBlockSplitter(): BlockSplitter {
  let committed: Token[] = [];
  let committedText = "";
  let scanned = 0;

  function commit(tokens: readonly Token[], raw: string): void {
    committed = [...committed, ...tokens];
    committedText += raw;
    scanned = 0;
  }

  /** The open fence at the start of `tail` as one code block, or null when there is none or it is closed. */
  function openFence(tail: string): Token | null {
    const head = openingFence.exec(tail);
    const fence = head?.[1];
    if (!head || !fence || (fence.startsWith("`") && head[2]?.includes("`"))) return null;
    const closing = new RegExp(`(?:^|\\n) {0,3}${fence[0] === "`" ? "`" : "~"}{${fence.length},}[ \\t]*(?:\\n|$)`, "g");
    closing.lastIndex = Math.max(head[0].length - 1, scanned - fence.length - 8);
    if (closing.test(tail)) return null;
    scanned = tail.length;
    const half = new RegExp(`(?:^|\\n) {0,3}${fence[0]}{1,${fence.length - 1}}$`);
    const body = tail.slice(head[0].length);
    return { type: "code", raw: tail, lang: head[2]?.trim() ?? "", text: body.replace(half, "").replace(/\n$/, "") };
  }

  function commitFinished(tokens: Token[], tail: string): Token[] {
    let last = tokens.length - 1;
    while (last >= 0 && tokens[last]?.type === "space") last -= 1;
    if (last < 1) return tokens;
    let previous = last - 1;
    while (previous >= 0 && tokens[previous]?.type === "space") previous -= 1;
    if (tokens[previous]?.type === "list" && markerBeginning.test(tokens[last]?.raw ?? "")) return tokens;
    const done = tokens.slice(0, last);
    const raw = done.map((token) => token.raw).join("");
    // The lexer now and then writes a space of its own into `raw`; then the rest cannot be found by its length.
    if (!tail.startsWith(raw)) return tokens;
    commit(done, raw);
    return tokens.slice(last);
  }

  function commitItems(tokens: Token[], tail: string): Token[] {
    const list = tokens[0];
    if (list?.type !== "list" || list.raw.length < longList) return tokens;
    const items = (list as Tokens.List).items;
    const done = items.slice(0, -1);
    const raw = done.map((item) => item.raw).join("");
    if (done.length === 0 || !tail.startsWith(raw)) return tokens;
    commit([{ ...list, raw, items: done }], raw);
    return lex(tail.slice(raw.length));
  }

  return {
    update(source) {
      const text = normalise(source);
      if (!text.startsWith(committedText)) {
        committed = [];
        committedText = "";
        scanned = 0;
      }
      let tail = text.slice(committedText.length);
      const fence = openFence(tail);
      if (fence) return [...committed, fence];
      let rest = commitFinished(lex(tail), tail);
      tail = text.slice(committedText.length);
      const opened = openFence(tail);
      if (opened) return [...committed, opened];
      rest = commitItems(rest, tail);
      return [...committed, ...rest];
    },
  };
}

/** A link that may be followed, or null. Relative links, javascript:, data: and file: have no place in a reply. */
export function safeHref(href: string): string | null {
  let url: URL;
  try {
    url = new URL(decodeEntities(href));
  } catch {
    return null;
  }
  return url.protocol === "http:" || url.protocol === "https:" || url.protocol === "mailto:" ? url.href : null;
}

const entities: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
  copy: "©",
  reg: "®",
  trade: "™",
  hellip: "…",
  mdash: "—",
  ndash: "–",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
  laquo: "«",
  raquo: "»",
  bull: "•",
  middot: "·",
  deg: "°",
  plusmn: "±",
  times: "×",
  divide: "÷",
  minus: "−",
  ne: "≠",
  le: "≤",
  ge: "≥",
  asymp: "≈",
  infin: "∞",
  larr: "←",
  rarr: "→",
  uarr: "↑",
  darr: "↓",
  harr: "↔",
  euro: "€",
  pound: "£",
  yen: "¥",
  cent: "¢",
  sect: "§",
  para: "¶",
  micro: "µ",
  frac12: "½",
  frac14: "¼",
  sup2: "²",
  sup3: "³",
  alpha: "α",
  beta: "β",
  gamma: "γ",
  delta: "δ",
  lambda: "λ",
  mu: "μ",
  pi: "π",
  sigma: "σ",
  omega: "ω",
  Delta: "Δ",
  Sigma: "Σ",
  Omega: "Ω",
};

/** Character references of Markdown text; one that is not known stays as written. */
export function decodeEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(
    /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z][A-Za-z0-9]*));/g,
    (whole, decimal, hex, name) => {
      if (name !== undefined) return entities[name] ?? whole;
      const code = decimal !== undefined ? Number.parseInt(decimal, 10) : Number.parseInt(hex, 16);
      const valid = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
      return valid ? String.fromCodePoint(code) : "\ufffd";
    },
  );
}
