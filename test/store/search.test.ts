import { describe, expect, it } from "vitest";
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

const found = (store: Store, query: string): (string | null)[] => store.search(query).map((hit) => hit.messageId);

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

  it("follows a message that changes and forgets a word that is gone", () => {
    const { store } = scratchStore();
    addSession(store);
    store.addMessage(message("m1", "marmalade", { role: "assistant", status: "streaming" }));
    expect(found(store, "marmalade")).toEqual(["m1"]);
    store.updateMessage(message("m1", "marzipan", { role: "assistant" }));
    expect(found(store, "marmalade")).toEqual([]);
    expect(found(store, "marzipan")).toEqual(["m1"]);
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
