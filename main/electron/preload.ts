/** Runs in the sandboxed window before the page: puts the bridge on `window.halogen`, and nothing else. */
import { contextBridge, ipcRenderer } from "electron";
import { createBridge } from "./bridge.ts";

contextBridge.exposeInMainWorld("halogen", createBridge(ipcRenderer));
