import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const here = fileURLToPath(new URL(".", import.meta.url));

/** The page is built for the oldest Chromium it runs in: that of Electron 22. */
export default defineConfig({
  root: here,
  base: "./",
  plugins: [react()],
  build: {
    outDir: fileURLToPath(new URL("../dist/page", import.meta.url)),
    emptyOutDir: true,
    target: ["es2022", "chrome108"],
    cssTarget: "chrome108",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The grammar of C++ alone is 800 kB; it is loaded only where such code is shown.
    chunkSizeWarningLimit: 1000,
  },
});
