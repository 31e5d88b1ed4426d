import { describe, expect, it } from "vitest";
import { readEnvironment } from "../../../../main/setting/environment.ts";
import { places } from "../../../../main/setting/place.ts";

const linux = (env: Record<string, string>) => readEnvironment(env, "linux", "/home/zoë");

describe("readEnvironment", () => {
  it("follows XDG on Linux", () => {
    expect(linux({})).toMatchObject({
      dataFolder: "/home/zoë/.local/share/halogen",
      cacheFolder: "/home/zoë/.cache/halogen",
      modelFolders: ["/home/zoë/.local/share/halogen/models"],
    });
    expect(linux({ XDG_DATA_HOME: "/data/模型 é😀", XDG_CACHE_HOME: "relative" })).toMatchObject({
      dataFolder: "/data/模型 é😀/halogen",
      cacheFolder: "/home/zoë/.cache/halogen",
    });
  });

  it("keeps weights out of the roaming profile on Windows", () => {
    const env = { APPDATA: "C:\\Users\\Zoë\\AppData\\Roaming", LOCALAPPDATA: "D:\\Local" };
    expect(readEnvironment(env, "win32", "C:\\Users\\Zoë")).toMatchObject({
      dataFolder: "C:\\Users\\Zoë\\AppData\\Roaming\\Halogen",
      modelFolders: ["D:\\Local\\Halogen\\models"],
      cacheFolder: "D:\\Local\\Halogen\\cache",
    });
    expect(readEnvironment({}, "win32", "C:\\Users\\Z").modelFolders).toEqual([
      "C:\\Users\\Z\\AppData\\Local\\Halogen\\models",
    ]);
  });

  it("uses the library folders on macOS", () => {
    expect(readEnvironment({}, "darwin", "/Users/z")).toMatchObject({
      dataFolder: "/Users/z/Library/Application Support/Halogen",
      cacheFolder: "/Users/z/Library/Caches/Halogen",
    });
  });

  it("moves everything with HALOGEN_DATA, and single parts with their own variables", () => {
    expect(linux({ HALOGEN_DATA: "/d/x/../模型" })).toMatchObject({
      dataFolder: "/d/模型",
      cacheFolder: "/d/模型/cache",
      modelFolders: ["/d/模型/models"],
    });
    const environment = linux({
      HALOGEN_DATA: "/d",
      HALOGEN_CACHE: "/c",
      HALOGEN_MODELS: "/m/a:/m/b::/m/a",
      HALOGEN_SQLITE: "/x.node",
    });
    expect(environment).toMatchObject({ cacheFolder: "/c", modelFolders: ["/m/a", "/m/b"], sqliteBinding: "/x.node" });
    expect(places(environment)).toMatchObject({ database: "/d/halogen.db", partials: "/m/a/.partial", models: "/m/a" });
    expect(readEnvironment({ HALOGEN_MODELS: "C:\\a;D:\\b" }, "win32", "C:\\").modelFolders).toEqual([
      "C:\\a",
      "D:\\b",
    ]);
  });

  it.each([
    [{ HALOGEN_DATA: "data" }, "HALOGEN_DATA"],
    [{ HALOGEN_MODELS: "/a:b" }, "HALOGEN_MODELS"],
    [{ HALOGEN_IN_PROCESS: "yes" }, "HALOGEN_IN_PROCESS"],
  ])("refuses %j by name", (env, name) => {
    expect(() => linux(env as unknown as Record<string, string>)).toThrow(
      expect.objectContaining({ code: "setting.invalid", detail: expect.objectContaining({ name }) }),
    );
  });

  it("takes blank variables as absent", () => {
    expect(linux({ HALOGEN_DATA: " ", HALOGEN_IN_PROCESS: "", HALOGEN_ADDON: "" })).toMatchObject({
      engineInProcess: null,
      addonPath: undefined,
    });
  });

  it("reads proxies as other programs do", () => {
    expect(
      linux({
        https_proxy: "http://low:1",
        HTTPS_PROXY: "http://high:1",
        ALL_PROXY: "all:2",
        NO_PROXY: "a.com, .b.com  c",
      }).proxy,
    ).toEqual({
      https: "http://low:1",
      http: "http://all:2",
      direct: ["a.com", ".b.com", "c"],
    });
    // A kind that is not spoken here counts as none, rather than as an HTTP proxy.
    expect(linux({ ALL_PROXY: "socks5://x:1" }).proxy).toEqual({ http: undefined, https: undefined, direct: [] });
  });
});
