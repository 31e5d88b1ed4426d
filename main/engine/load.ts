/** The engine itself, in whatever process calls this: the native one, or the module that stands in for it. */
import { pathToFileURL } from "node:url";
import type { Engine } from "../../app/engine.ts";
import { HalogenError } from "../../app/error.ts";
import type { ChildArgument } from "./argument.ts";

export async function loadEngine({ module, options }: ChildArgument): Promise<Engine> {
  if (module === null) {
    // Only here: main imports this file too, and does not want machine code in its process unless it is told to.
    const { createNativeEngine } = await import("../../native/index.ts");
    return createNativeEngine(options);
  }
  const loaded: unknown = await import(pathToFileURL(module).href);
  const create = (loaded as { createEngine?: (options: unknown) => Engine | Promise<Engine> }).createEngine;
  if (typeof create !== "function") throw new HalogenError("engine.unavailable", `${module} exports no createEngine`);
  return create(options);
}
