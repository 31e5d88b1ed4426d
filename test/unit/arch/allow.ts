/**
 * The allow table: which folder may import which folders and packages. A file belongs to its longest matching row. What is not listed is refused;
 * there are no exemptions. `node` is every Node built-in, `std` every C++ standard header.
 */

export interface Row {
  /** A folder, or one file. */
  part: string;
  /** Folders or files of ours. A row may always import from itself. */
  may: readonly string[];
  packages: readonly string[];
}

export const scriptRows: readonly Row[] = [
  { part: "app/contract", may: ["app/engine.ts", "app/error.ts"], packages: ["zod"] },
  { part: "app/error.ts", may: [], packages: [] },
  { part: "app/engine.ts", may: [], packages: [] },
  { part: "app/engine-check.ts", may: ["app/engine.ts", "app/error.ts"], packages: [] },
  { part: "app/kv-quality.ts", may: [], packages: [] },
  { part: "app/number.ts", may: [], packages: [] },
  { part: "app/plan.ts", may: ["app/engine.ts", "app/number.ts"], packages: [] },
  { part: "app/generation.ts", may: ["app/engine.ts"], packages: [] },
  { part: "app/platform.d.ts", may: [], packages: [] },
  { part: "app/session", may: ["app/contract", "app/error.ts"], packages: ["zod"] },
  { part: "app/chat", may: ["app/contract", "app/engine.ts", "app/error.ts"], packages: ["zod"] },
  { part: "app/grammar", may: ["app/engine.ts", "app/error.ts"], packages: [] },
  { part: "app/mask", may: ["app/engine.ts", "app/error.ts", "app/grammar", "app/token/utf8.ts"], packages: [] },
  { part: "app/token", may: ["app/engine.ts", "app/error.ts"], packages: [] },

  { part: "native", may: ["app", "native/grammar"], packages: ["node"] },
  { part: "native/grammar", may: ["app", "native/addon.ts"], packages: ["node"] },

  { part: "main/setting", may: ["app"], packages: ["node", "zod"] },
  { part: "main/store", may: ["app"], packages: ["node", "zod", "better-sqlite3"] },
  { part: "main/model", may: ["app", "main/setting/json-file.ts"], packages: ["node", "zod"] },
  { part: "main/engine", may: ["app", "native"], packages: ["node", "zod"] },
  { part: "main/chat", may: ["app"], packages: ["node", "zod", "@huggingface/jinja"] },
  { part: "main/telemetry", may: ["app"], packages: ["node"] },
  { part: "main/page.ts", may: [], packages: ["node"] },
  { part: "main/installation.ts", may: [], packages: ["node"] },
  { part: "main/service.ts", may: ["app"], packages: [] },
  {
    part: "main/handler",
    may: ["app", "main/setting", "main/store", "main/model", "main/engine", "main/chat", "main/telemetry"],
    packages: [],
  },
  {
    part: "main/application.ts",
    may: [
      "app",
      "main/handler",
      "main/service.ts",
      "main/setting",
      "main/store",
      "main/model",
      "main/engine",
      "main/chat",
      "main/telemetry",
    ],
    packages: ["node"],
  },
  {
    part: "main/server",
    may: ["app", "main/page.ts"],
    packages: ["node", "fastify", "@fastify/websocket", "ws"],
  },
  {
    part: "main/electron",
    may: ["app", "main/application.ts", "main/engine", "main/installation.ts", "main/page.ts", "main/setting"],
    packages: ["node", "zod", "electron"],
  },
  {
    part: "main/command",
    may: [
      "app",
      "main/application.ts",
      "main/installation.ts",
      "main/server",
      "main/setting",
      "main/model",
      "main/engine",
      "main/chat",
    ],
    packages: ["node"],
  },
  { part: "main/cli.ts", may: ["app", "main/command"], packages: ["node"] },

  { part: "renderer/logic", may: ["app"], packages: ["marked"] },
  { part: "renderer/store", may: ["app", "renderer/logic"], packages: ["zustand"] },
  { part: "renderer/command", may: ["app", "renderer/logic", "renderer/store"], packages: [] },
  {
    part: "renderer/view",
    may: ["app", "renderer/logic", "renderer/store", "renderer/command"],
    packages: ["react", "react-dom", "radix-ui", "lucide-react", "virtua", "shiki", "zustand"],
  },
  {
    part: "renderer",
    may: ["app"],
    packages: ["react", "react-dom", "zod"],
  },
  { part: "renderer/main.tsx", may: ["renderer"], packages: [] },
  { part: "renderer/mount.tsx", may: ["app", "renderer"], packages: ["react", "react-dom"] },
  { part: "renderer/vite.config.ts", may: [], packages: ["node", "vite", "@vitejs/plugin-react"] },

  { part: "setup", may: [], packages: ["node"] },
  {
    part: "setup/starter.mjs",
    may: ["setup", "app/error.ts", "main/model", "main/setting"],
    packages: ["node"],
  },
  { part: "setup/bundle.mjs", may: ["setup"], packages: ["node", "esbuild"] },
  { part: "setup/screens.mjs", may: ["setup"], packages: ["node", "playwright-core"] },

  { part: "vitest.config.ts", may: [], packages: ["vitest"] },
  {
    part: "test",
    may: ["app", "main", "native", "renderer", "setup", "resources"],
    packages: [
      "node",
      "vite",
      "vitest",
      "fast-check",
      "playwright-core",
      "@axe-core/playwright",
      "ws",
      "zod",
      "ajv",
      "ajv-formats",
      "better-sqlite3",
      "fastify",
      "electron",
      "esbuild",
      "node-llama-cpp",
    ],
  },
];

/** For C++: `may` are include prefixes as written between the quotes; `packages` are `std` or exact header names. */
export const nativeRows: readonly Row[] = [
  { part: "kernels", may: ["kernel_table.h"], packages: ["std"] },
  { part: "native/engine", may: ["native/backend/backend.h"], packages: ["std", "posix"] },
  { part: "native/backend", may: ["native/engine", "kernels", "kernel_table.h"], packages: ["std", "posix"] },
  { part: "native/bench", may: ["native/engine", "native/backend", "kernels"], packages: ["std"] },
  { part: "native/addon", may: ["native/engine"], packages: ["std", "napi.h"] },
  {
    part: "test/native",
    may: ["native/engine", "native/backend", "native/bench", "kernels", "kernel_table.h"],
    packages: ["std", "posix"],
  },
  {
    part: "test/electron",
    may: [],
    packages: ["std", "node_api.h"],
  },
  { part: "test/peer", may: [], packages: ["std", "posix", "llama.h", "gguf.h"] },
  { part: "test/fuzz", may: ["native/engine", "test/fuzz"], packages: ["std", "posix"] },
  {
    part: "test/kernels",
    may: ["native/engine", "native/backend", "kernels", "kernel_table.h"],
    packages: ["std", "posix"],
  },
];

/** Names of one platform that a layer must not touch, where the type checker cannot see it. */
export const forbidden: readonly { part: string; except: readonly string[]; pattern: RegExp; why: string }[] = [
  {
    part: "app",
    except: [],
    pattern: /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bsetTimeout\(|\bprocess\.|\bconsole\./,
    why: "app/ is pure: clock, randomness and platform are passed in",
  },
  {
    part: "main",
    except: ["main/server", "main/cli.ts", "main/command", "main/installation.ts"],
    pattern: /(?<![.\w])fetch\(|(?<![.\w])structuredClone\(|\bimport\.meta\b|^await\s/m,
    why: "main runs on Node 16 of an old Electron too, bundled to CommonJS",
  },
];
