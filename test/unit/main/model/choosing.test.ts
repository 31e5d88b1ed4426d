import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { AnyEvent } from "../../../../app/contract/event.ts";
import { HalogenError } from "../../../../app/error.ts";
import { createInspectionCache } from "../../../../main/model/inspection-cache.ts";
import { createLibrary } from "../../../../main/model/library.ts";
import { scratchLibrary } from "./scratch-library.ts";

const s = scratchLibrary();

describe("choosing", () => {
  it("finds a model by id, name, file name or path", async () => {
    s.put("Sub/SmolLM2-135M.Q4_1.gguf");
    s.put("other.gguf");
    await s.library.scan();
    const id = s.idOf("SmolLM2-135M.Q4_1.gguf");
    for (const reference of [
      id,
      "smollm2-135m",
      "SmolLM2-135M.q4_1.GGUF",
      join(s.root, "Sub/SmolLM2-135M.Q4_1.gguf"),
    ]) {
      expect((await s.library.resolve(reference)).id).toBe(id);
    }
    await expect(s.library.resolve("nope")).rejects.toMatchObject({
      code: "model.not_found",
      hint: expect.stringContaining("other.gguf"),
    });
    await expect(s.library.resolve(join(s.root, "gone.gguf"))).rejects.toMatchObject({ code: "file.missing" });
    expect(() => s.library.get("nope")).toThrow(expect.objectContaining({ code: "model.not_found" }));
  });

  it("adds a file from elsewhere and keeps it over a scan", async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), "halogen-elsewhere-"));
    try {
      writeFileSync(join(elsewhere, "x.gguf"), "x");
      const model = await s.library.resolve(join(elsewhere, "x.gguf"));
      expect((await s.library.scan()).map((each) => each.id)).toEqual([model.id]);
    } finally {
      rmSync(elsewhere, { recursive: true });
    }
  });

  it("prefers the model that is set, else the first that works", async () => {
    expect(s.library.preferred()).toBeNull();
    s.put("a.gguf");
    s.put("b.gguf");
    s.put("c.gguf");
    s.slow.faults.set("a.gguf", new HalogenError("gguf.empty", "empty"));
    await s.library.scan();
    expect(s.library.preferred()?.fileName).toBe("b.gguf");
    s.settings.defaultModelId = s.idOf("c.gguf");
    expect(s.library.preferred()?.fileName).toBe("c.gguf");
    s.settings.defaultModelId = s.idOf("a.gguf");
    expect(s.library.preferred()?.fileName).toBe("b.gguf");
  });

  it("plans with the present s.settings and shows it", async () => {
    s.put("a.gguf");
    await s.library.scan();
    s.settings.contextLength = 2048;
    expect((await s.library.plan(s.idOf("a.gguf"))).contextLength).toBe(2048);
    expect(s.library.get(s.idOf("a.gguf")).plan?.total).toBe(12);
  });
});

describe("watch", () => {
  const patience = { timeout: 10_000 };

  function watching(folder: string, heard: (event: AnyEvent) => void): void {
    s.library = createLibrary({
      folders: [folder],
      engine: s.slow.engine,
      settings: () => s.settings,
      cache: createInspectionCache({ version: "1", read: () => null, write: () => {} }),
      featuresOf: async () => null,
      emit: heard,
      watch: true,
    });
  }

  it("makes the folder, and sees a file that is put into it or below it, but no hidden one", patience, async () => {
    const folder = join(s.root, "models");
    const waiting: ((event: AnyEvent) => void)[] = [];
    watching(folder, (event) => waiting.shift()?.(event));
    const next = (): Promise<AnyEvent> => new Promise((resolve) => waiting.push(resolve));
    // The watch keeps no process alive, so the test does.
    const alive = setInterval(() => {}, 1000);
    const first = next();
    s.put("models/.partial/hidden.gguf");
    s.put("models/new.gguf");
    expect(await first).toMatchObject({ name: "model.changed", payload: { fileName: "new.gguf" } });
    const second = next();
    s.put("models/publisher/deep.gguf");
    expect(await second).toMatchObject({ name: "model.changed", payload: { fileName: "deep.gguf" } });
    const third = next();
    rmSync(join(folder, "new.gguf"));
    expect(await third).toMatchObject({ name: "model.removed" });
    clearInterval(alive);
  });

  it("says so when a folder cannot be watched, and the list still works", async () => {
    const events: AnyEvent[] = [];
    writeFileSync(join(s.root, "file"), "");
    watching(join(s.root, "file", "models"), (event) => events.push(event));
    expect(events).toMatchObject([{ name: "notice", payload: { level: "warning" } }]);
    expect(await s.library.scan()).toEqual([]);
  });
});
