/** The built page as both shells serve it: its policy, its content types, and which file an address means. */
import { extname, resolve, sep } from "node:path";

/**
 * Nothing is loaded from elsewhere and no text becomes code. Inline styles are let in because Radix's scroll lock and the highlighter set them;
 * with every remote source closed they cannot carry anything out. `socket` is the ws:// origin of the server; Electron has none.
 */
export function contentSecurityPolicy(socket?: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    `connect-src 'self'${socket === undefined ? "" : ` ${socket}`}`,
    "worker-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "object-src 'none'",
  ].join("; ");
}

export function pageHeaders(socket?: string): Record<string, string> {
  return {
    "Content-Security-Policy": contentSecurityPolicy(socket),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), usb=(), serial=(), hid=()",
  };
}

const contentTypes: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".wasm": "application/wasm",
  ".map": "application/json; charset=utf-8",
};

export interface PageFile {
  path: string;
  type: string;
}

/** The file that a URL path means, or null: outside the folder, malformed, or of a kind that the page does not have. */
export function pageFile(folder: string, pathname: string): PageFile | null {
  let name: string;
  try {
    name = decodeURIComponent(pathname);
  } catch {
    // A broken percent escape names no file.
    return null;
  }
  if (name.includes("\0") || name.includes("\\")) return null;
  if (name === "" || name === "/") name = "/index.html";
  const root = resolve(folder);
  const path = resolve(root, `.${name.startsWith("/") ? name : `/${name}`}`);
  const type = contentTypes[extname(path).toLowerCase()];
  if (!path.startsWith(root + sep) || type === undefined) return null;
  return { path, type };
}

/** Vite puts a hash into the names below assets/, so those never change. */
export function cacheControl(pathname: string): string {
  return pathname.startsWith("/assets/") ? "public, max-age=31536000, immutable" : "no-cache";
}
