import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { searchHitSchema } from "../../app/contract/session.ts";
import { fold } from "../../main/store/fold.ts";
import { excerpt, parseQuery, quoted, trigramsOf } from "../../main/store/query.ts";
import type { Store } from "../../main/store/store.ts";
import { addSession, message } from "./maker.ts";
import { scratchStore } from "./scratch.ts";

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: code as a chat holds it
const texts: Record<string, string> = {
  german: "Die Größe der Straße in Zürich",
  french: "Un élève déçu, naïve cœur",
  japanese: "日本語のテキストを検索する。東京タワー",
  korean: "한국어 검색 테스트",
  thai: "ค้นหาข้อความภาษาไทย",
  greek: "Ο ΣΊΣΥΦΟΣ και ο Σίσυφος",
  code: 'const getUserName = (id) => `SELECT "name" FROM user WHERE id=${id}` // 100% AND-OR*NOT',
  wide: "ＡＢＣ ﬁne ①",
};
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: code as a chat holds it

function filled(): Store {
  const { store } = scratchStore();
  addSession(store);
  for (const [id, text] of Object.entries(texts)) store.addMessage(message(id, text));
  return store;
}

/** The same before the index knows the messages and after. */
function found(store: Store, query: string): (string | null)[] {
  const before = store.search(query);
  vi.runAllTimers();
  expect(store.search(query)).toEqual(before);
  return before.map((hit) => hit.messageId);
}

beforeEach(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => vi.useRealTimers());

describe("search", () => {
  it.each([
    ["grosse", ["german"]],
    ["STRASSE zurich", ["german"]],
    ["zür", ["german"]],
    ["eleve", ["french"]],
    ["coeur", ["french"]],
    ["Œuvre", []],
    ["検索", ["japanese"]],
    ["東", ["japanese"]],
    ["本語のテ", ["japanese"]],
    ["テキスト", ["japanese"]],
    ["てきすと", []],
    ["한국", ["korean"]],
    ["검", ["korean"]],
    ["ข้อความ", ["thai"]],
    ["σισυφος", ["greek"]],
    ["username", ["code"]],
    ["ame", ["code"]],
    ["abc", ["wide"]],
    ["fine", ["wide"]],
    ["1", ["wide", "code"]],
    ["getUser Straße", []],
  ])("finds %s", (query, ids) => {
    expect(found(filled(), query)).toEqual(ids);
  });

  it.each([
    ['"', ["code"]],
    ['"name"', ["code"]],
    ['"der straße"', ["german"]],
    ['"straße der"', []],
    ["AND-OR*NOT", ["code"]],
    ["100%", ["code"]],
    ["user* OR", []],
    ["(id)", ["code"]],
    ["NEAR(a b)", []],
    ["text:", []],
    ["'; DROP TABLE message; --", []],
    ["\u0000", []],
    ["   ", []],
    ["", []],
    ["\ud83d", []],
    ["-", ["code"]],
  ])("takes %j as plain words", (query, ids) => {
    expect(found(filled(), query)).toEqual(ids);
  });

  it("shows titles first, then messages, newest first, and no more than the limit", () => {
    const { store } = scratchStore();
    addSession(store, "s1", "About apples");
    addSession(store, "s2", "Äpfel and apples");
    for (let i = 0; i < 5; i++) store.addMessage(message(`m${i}`, `apples ${i}`, { createdAt: i }));
    expect(store.search("apples").map((hit) => hit.messageId ?? hit.sessionTitle)).toEqual([
      "About apples",
      "Äpfel and apples",
      "m4",
      "m3",
      "m2",
      "m1",
      "m0",
    ]);
    expect(store.search("apples", 3).map((hit) => hit.messageId)).toEqual([null, null, "m4"]);
    expect(store.search("ap", 4)).toHaveLength(4);
  });

  it("gives an excerpt with exact ranges, in UTF-16 units", () => {
    const { store } = scratchStore();
    addSession(store);
    const text = `${"Vor👋wort ".repeat(60)}die GRÖ\u0308SSE\nund die Größe${" danach👋".repeat(60)}`;
    store.addMessage(message("m1", text));
    const [hit] = store.search("grosse");
    if (hit === undefined) throw new Error("nothing found");
    expect(searchHitSchema.safeParse(hit).success).toBe(true);
    expect(hit.matches.map(([from, to]) => hit.snippet.slice(from, to))).toEqual(["GRÖ\u0308SSE", "Größe"]);
    expect(hit.snippet).toMatch(/^….*…$/u);
    expect(hit.snippet.length).toBeLessThan(260);
    expect(Buffer.from(hit.snippet, "utf8").toString("utf8")).toBe(hit.snippet);
  });

  it("finds short terms at any place, rare and common ones", () => {
    const { store } = scratchStore();
    addSession(store, "s1", "T");
    for (let i = 0; i < 30; i++)
      store.addMessage(
        message(`f${i}`, Array.from({ length: 26 }, (_, j) => `x${String.fromCharCode(97 + j)}${i}`).join(" ")),
      );
    store.addMessage(message("end", "it ends in zq"));
    store.addMessage(message("alone", "é"));
    store.addMessage(message("start", "§a begins"));
    expect(found(store, "zq")).toEqual(["end"]);
    expect(found(store, "e")).toEqual(["start", "alone", "end", ...Array.from({ length: 30 }, (_, i) => `f${29 - i}`)]);
    expect(found(store, "§")).toEqual(["start"]);
    expect(found(store, "§a gin")).toEqual(["start"]);
    expect(found(store, "q§")).toEqual([]);
    expect(found(store, "x")).toHaveLength(30);
    expect(found(store, "x zq")).toEqual([]);
  });

  it("shows a match that lies far into a long text, whatever precedes it", () => {
    const { store } = scratchStore();
    addSession(store);
    const before = "ﬁ👋e\u0301Ⅷ 한글 ".repeat(3000);
    store.addMessage(message("m1", `${before}the Näedle\u0308 here${" after".repeat(3000)}`));
    const [hit] = store.search("naedle");
    expect(hit?.matches.map(([from, to]) => hit.snippet.slice(from, to))).toEqual(["Näedle\u0308"]);
  });

  it("follows a message that changes and forgets a word that is gone", () => {
    const { store } = scratchStore();
    addSession(store);
    store.addMessage(message("m1", "marmalade", { role: "assistant", status: "streaming" }));
    expect(found(store, "marmalade")).toEqual(["m1"]);
    store.updateMessage(message("m1", "marzipan", { role: "assistant" }));
    expect(found(store, "marmalade")).toEqual([]);
    expect(found(store, "marzipan")).toEqual(["m1"]);
  });

  it("indexes a long message in parts, behind everything else, and goes on after a restart", () => {
    const scratch = scratchStore();
    addSession(scratch.store, "s1", "T");
    const filler = (n: number): string => Array.from({ length: n }, (_, i) => `w${i}`).join(" ");
    // The quoted words lie across the border of two parts; the two single ones far from each other.
    const start = filler(3000).slice(0, 16_384 - 8);
    const text = `${start} hubble bubble ${filler(9000)} ǄÜRE end`;
    scratch.store.addMessage(message("long", text));
    scratch.store.addMessage(message("short", "hubble"));
    const waiting = (): unknown => {
      scratch.store.close();
      const database = new Database(scratch.path, { readonly: true });
      const rows = database.prepare("SELECT message, part FROM unindexed ORDER BY message").all();
      database.close();
      scratch.reopen();
      return rows;
    };
    vi.advanceTimersByTime(10);
    expect(waiting()).toEqual([
      { message: 1, part: 1 },
      { message: 2, part: 0 },
    ]);
    expect(found(scratch.store, '"hubble bubble"')).toEqual(["long"]);
    expect(waiting()).toEqual([]);
    for (const query of ['"hubble bubble"', "bubble w8999", "džüre end", "hubble w0"])
      expect(found(scratch.store, query)).toEqual(["long"]);
    expect(found(scratch.store, "hubble")).toEqual(["short", "long"]);
    expect(found(scratch.store, "bubble w9000")).toEqual([]);
    scratch.store.updateMessage(message("long", "nothing of it"));
    expect(found(scratch.store, "bubble")).toEqual([]);
    expect(found(scratch.store, "nothing")).toEqual(["long"]);
  });

  it("finds thoughts as well as answers", () => {
    const { store } = scratchStore();
    addSession(store);
    const thought = { type: "reasoning", text: "let me ponder", finished: true, milliseconds: 1, tokens: 1 } as const;
    store.addMessage(message("m1", [thought, { type: "text", text: "answer" }], { role: "assistant" }));
    expect(found(store, "ponder answer")).toEqual(["m1"]);
  });
});

describe("query", () => {
  it("folds as a whole what it folds in parts", () => {
    for (const text of Object.values(texts)) expect([...text].map(fold).join("")).toBe(fold(text));
  });

  it("reads quotes, and keeps a lonely one as itself", () => {
    expect(parseQuery('a "b c" d"e "f')).toEqual(["a", "b c", 'd"e', '"f']);
  });

  it("asks for every trigram of a term", () => {
    expect(trigramsOf('a"bc').map(quoted)).toEqual(['"a""b"', '"""bc"']);
    expect(trigramsOf("ab")).toEqual([]);
  });

  it("returns no excerpt unless every term is there", () => {
    expect(excerpt("one two", ["one", "three"])).toBeNull();
    expect(excerpt("one two", [])).toBeNull();
    expect(excerpt("one two", ["two", "one"])).toEqual({
      snippet: "one two",
      matches: [
        [0, 3],
        [4, 7],
      ],
    });
  });
});
