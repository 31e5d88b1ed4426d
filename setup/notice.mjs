// The licences of what is shipped: every package that the app depends on, what is compiled into the engine, and data of others in our sources.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./place.mjs";
import { StepError } from "./step.mjs";

/** Headers that are compiled into halogen.node. */
const compiledIn = ["node_modules/node-addon-api", "node_modules/node-api-headers"];

const isLicence = (name) => /^(licen[cs]e|copying|notice)/i.test(name);

/** Folders of the packages that a production install has here, by the lock file. */
export function shippedPackages() {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const needed = Object.entries(packages).filter(([path, { dev, devOptional }]) => path !== "" && !dev && !devOptional);
  const here = ([path, { optional }]) => !optional || existsSync(join(root, path));
  return [...needed.filter(here).map(([path]) => path), ...compiledIn].sort();
}

/** Name, version, licence and its text as the package carries it; else the standard text with the package's author. Throws where there is neither. */
export function noticeOf(path) {
  const folder = join(root, path);
  const { name, version, license, author } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const licence = license ?? "unnamed licence";
  const own = readdirSync(folder)
    .filter(isLicence)
    .sort()
    .map((file) => readFileSync(join(folder, file), "utf8").trim());
  if (own.length > 0) return { name, version, licence, text: own.join("\n\n") };
  const by = typeof author === "string" ? author : author?.name;
  return {
    name,
    version,
    licence,
    text: standardText(name, licence, `Copyright (c) ${by ?? `the authors of ${name}`}`),
  };
}

function standardText(name, licence, copyright) {
  const file = join(root, "resources", "licence", `${licence}.txt`);
  if (/[\\/]/.test(licence) || !existsSync(file)) {
    throw new StepError(`No licence text for ${name} (${licence})`, {
      hint: `It carries none itself: put the text of ${licence} into resources/licence/${licence}.txt, or do without the package.`,
    });
  }
  return `${copyright}\n\n${readFileSync(file, "utf8").trim()}`;
}

/** The whole text. Licences that are the same to the letter stand once, with all that are under them. */
export function thirdPartyNotice() {
  const parts = JSON.parse(readFileSync(join(root, "resources", "licence", "parts.json"), "utf8"));
  const entries = [
    ...parts.map(({ name, licence, copyright }) => ({
      title: `${name} (${licence})`,
      text: standardText(name, licence, copyright),
    })),
    ...shippedPackages()
      .map(noticeOf)
      .map(({ name, version, licence, text }) => ({ title: `${name} ${version} (${licence})`, text })),
  ];
  const byText = new Map();
  for (const { title, text } of entries) byText.set(text, [...new Set([...(byText.get(text) ?? []), title])]);
  const line = "-".repeat(78);
  const sections = [...byText].map(([text, titles]) => `${line}\n${titles.join("\n")}\n\n${text}\n`);
  return `Halogen contains or comes with the following works of others.\n\n${sections.join("\n")}`;
}
