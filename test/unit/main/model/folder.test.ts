import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { idSchema } from "../../../../app/contract/message.ts";
import { displayName, modelId, readModelFile, readModelFolders } from "../../../../main/model/folder.ts";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "halogen 模型 é😀 "));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(relative: string, bytes = 10): string {
  const path = join(root, relative);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, Buffer.alloc(bytes));
  return path;
}

const names = async (...folders: string[]) => (await readModelFolders(folders)).files.map((file) => file.fileName);

describe("readModelFolders", () => {
  it("finds GGUF files three folders deep and nothing else", async () => {
    for (const name of ["a.gguf", "B.GGUF", "one/c.gguf", "one/two/three/d.gguf", "one/two/three/four/e.gguf"])
      put(name);
    for (const name of ["notes.txt", ".partial/f.gguf", ".hidden.gguf", "g.gguf.part", "folder.gguf/readme.md"])
      put(name);
    expect(await names(root)).toEqual(["a.gguf", "B.GGUF", "c.gguf", "d.gguf"]);
  });

  it("takes a folder that is not there as empty, and names one that cannot be read", async () => {
    const file = put("file");
    const { files, faults } = await readModelFolders([join(root, "nowhere"), file]);
    expect(files).toEqual([]);
    expect(faults).toMatchObject([{ folder: file, reason: expect.stringContaining("ENOTDIR") }]);
  });

  it("survives links to nothing and links in a circle", async () => {
    put("a.gguf");
    symlinkSync(join(root, "gone"), join(root, "b.gguf"));
    symlinkSync(root, join(root, "again"));
    const { files, faults } = await readModelFolders([root]);
    expect(files.map((file) => file.path)).toEqual([join(root, "a.gguf")]);
    expect(faults).toEqual([]);
  });

  it("takes shards as one model and says which are missing", async () => {
    put("m-00001-of-00003.gguf", 5);
    put("m-00003-of-00003.gguf", 7);
    put("m-00001-of-00002.gguf", 1);
    put("m-00002-of-00002.gguf", 1);
    const { files } = await readModelFolders([root]);
    expect(files).toMatchObject([
      { fileName: "m-00001-of-00002.gguf", bytes: 2, shards: 2, missingShards: [] },
      { fileName: "m-00001-of-00003.gguf", bytes: 12, shards: 3, missingShards: [2] },
    ]);
  });

  it("pairs a projector with the models beside it and never lists it", async () => {
    put("gemma/gemma-3-4b-Q4_0.gguf");
    const projector = put("gemma/mmproj-model-f16.gguf");
    put("plain.gguf");
    const { files } = await readModelFolders([root]);
    expect(files.map((file) => [file.fileName, file.projector])).toEqual([
      ["gemma-3-4b-Q4_0.gguf", projector],
      ["plain.gguf", null],
    ]);
  });

  it("lists a file that lies in two folders once, from the first", async () => {
    put("x/a.gguf");
    put("y/a.gguf");
    put("y/b.gguf");
    const { files } = await readModelFolders([join(root, "x"), join(root, "y")]);
    expect(files.map((file) => file.path)).toEqual([join(root, "x/a.gguf"), join(root, "y/b.gguf")]);
  });

  it("gives a file the same id wherever its folder lies, and another one when it changes size", async () => {
    put("x/sub/模型.gguf");
    put("y/sub/模型.gguf");
    const id = async (folder: string) => (await readModelFolders([join(root, folder)])).files[0]?.id ?? "";
    const before = await id("x");
    expect(idSchema.safeParse(before).success).toBe(true);
    expect(await id("y")).toBe(before);
    put("x/sub/模型.gguf", 11);
    expect(await id("x")).not.toBe(before);
  });
});

describe("names", () => {
  it.each([
    ["SmolLM2-135M-Instruct.Q4_1.gguf", "SmolLM2-135M-Instruct"],
    ["Qwen3-30B-A3B-UD-Q4_K_XL.gguf", "Qwen3-30B-A3B"],
    ["model-f16.gguf", "model"],
    ["gpt-oss-20b-mxfp4-00001-of-00002.gguf", "gpt-oss-20b"],
    ["Q8_0.gguf", "Q8_0"],
    ["模型.gguf", "模型"],
  ])("shows %s as %s", (file, name) => expect(displayName(file)).toBe(name));

  it("fit an id whatever the file is called", () => {
    for (const name of ["模型.gguf", `${"x".repeat(200)}.gguf`, "---.gguf", "a b/c d.gguf"])
      expect(idSchema.safeParse(modelId(name, 1)).success).toBe(true);
  });
});

describe("readModelFile", () => {
  it("gives a file from elsewhere the id it would have in a model folder", async () => {
    const path = put("a.gguf");
    const { files } = await readModelFolders([root]);
    expect(await readModelFile(path)).toEqual(files[0]);
    await expect(readModelFile(join(root, "gone.gguf"))).rejects.toThrow("ENOENT");
  });

  it("is all shards, whichever is named", async () => {
    put("m-00001-of-00002.gguf", 5);
    put("m-00002-of-00002.gguf", 7);
    put("m-00001-of-00003.gguf", 1);
    const whole = await readModelFile(join(root, "m-00001-of-00002.gguf"));
    expect(whole).toMatchObject({ bytes: 12, shards: 2, missingShards: [], path: join(root, "m-00001-of-00002.gguf") });
    expect(await readModelFile(join(root, "m-00002-of-00002.gguf"))).toEqual(whole);
    expect(await readModelFile(join(root, "m-00001-of-00003.gguf"))).toMatchObject({ missingShards: [2, 3] });
  });

  it("is a folder of safetensors, listed as one model", async () => {
    put("Qwen3.6-PARO/config.json", 3);
    put("Qwen3.6-PARO/model-00001-of-00002.safetensors", 5);
    put("Qwen3.6-PARO/model-00002-of-00002.safetensors", 7);
    put("Qwen3.6-PARO/tokenizer.json", 11);
    put("weights-alone/model.safetensors", 1);
    const { files } = await readModelFolders([root]);
    expect(files).toMatchObject([{ fileName: "Qwen3.6-PARO", path: join(root, "Qwen3.6-PARO"), bytes: 12, shards: 1 }]);
    expect(await readModelFile(join(root, "Qwen3.6-PARO"))).toEqual(files[0]);
  });
});
