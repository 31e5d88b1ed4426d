/** The project's own source files and what each imports, read as text. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { dirname, join, normalize, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../..", import.meta.url));

const script = /\.(ts|tsx|mjs|cjs|js)$/;
const native = /\.(cpp|h|cc|hpp|hip|cu|comp|glsl)$/;
const other = /\.(css|html|py|sh|cmake|sql)$/;

export interface Source {
  path: string;
  text: string;
  lines: number;
}

/** Every file that git tracks or would track: what lies about ignored is not ours. */
export function sources(): Source[] {
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root });
  const paths = [...new Set(listed.toString("utf8").split("\0"))].filter(
    (path) => script.test(path) || native.test(path) || other.test(path),
  );
  const found: Source[] = [];
  for (const path of paths.sort()) {
    const text = readIfThere(join(root, path));
    if (text !== null) found.push({ path, text, lines: text.split("\n").length - (text.endsWith("\n") ? 1 : 0) });
  }
  return found;
}

/** A file deleted but not yet committed is still listed by git. */
function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

export const isScript = (source: Source): boolean => script.test(source.path);
export const isNative = (source: Source): boolean => native.test(source.path);

/** Comments out, strings kept: enough to read imports and names from code that the type checker has accepted. */
export function withoutComments(text: string): string {
  return text.replace(
    /("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)|\/\*[\s\S]*?\*\/|(?<![:\\])\/\/[^\n]*/g,
    (_, quoted: string | undefined) => quoted ?? " ",
  );
}

const builtins = new Set(builtinModules);
const patterns = [
  /(?:^|[\n;}])\s*(?:import|export)\s[^"'`;]*?\bfrom\s*["']([^"'\n]+)["']/g,
  /(?:^|[\n;}])\s*import\s*["']([^"'\n]+)["']/g,
  /\bimport\(\s*["'`]([^"'`\n]+)["'`]/g,
  /\brequire(?:\.resolve)?\(\s*["'`]([^"'`\n]+)["'`]/g,
];

/** What a script imports: `{file}` of ours as a path from the root, or `{package}` ("node" for every built-in). */
export function scriptImports(source: Source): { file?: string; package?: string }[] {
  const code = withoutComments(source.text);
  const names = patterns.flatMap((pattern) => [...code.matchAll(pattern)].map((match) => match[1] ?? ""));
  return names.map((name) => {
    if (name.startsWith(".")) {
      const file = relative(root, normalize(join(root, dirname(source.path), name.replace(/\?.*$/, ""))));
      return { file: file.replaceAll("\\", "/") };
    }
    const parts = name.split("/");
    const packageName = name.startsWith("@") ? parts.slice(0, 2).join("/") : (parts[0] ?? name);
    if (name.startsWith("node:") || builtins.has(packageName)) return { package: "node" };
    return { package: packageName };
  });
}

const posix =
  /^(?:(?:sys|linux)\/|fcntl\.h|unistd\.h|sched\.h|pthread\.h|windows\.h|dlfcn\.h|io\.h|immintrin\.h|cpuid\.h|intrin\.h)/i;
const intrinsic = /^(?:immintrin\.h|cpuid\.h|intrin\.h|arm_neon\.h)$/;

/**
 * What a C++ file includes: quoted names are ours, from the root or from beside the file; bracketed ones are `std`, `posix` (an operating
 * system's) or themselves.
 */
export function nativeIncludes(source: Source): { file?: string; package?: string }[] {
  const found: { file?: string; package?: string }[] = [];
  for (const match of withoutComments(source.text).matchAll(/^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)/gm)) {
    const [, quoted, bracketed] = match;
    const beside = `${dirname(source.path)}/${quoted}`;
    if (quoted !== undefined) found.push({ file: existsSync(join(root, beside)) ? beside : quoted });
    else if (bracketed !== undefined) {
      if (intrinsic.test(bracketed) || /^[a-z_0-9]+$/.test(bracketed)) found.push({ package: "std" });
      else found.push({ package: posix.test(bracketed) ? "posix" : bracketed });
    }
  }
  return found;
}
