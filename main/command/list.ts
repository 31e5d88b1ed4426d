/** Every command, in the order of the overview. One more: a file beside this one, and a line here. */
import type { Command } from "./command.ts";
import { doctor } from "./doctor.ts";
import { models } from "./models.ts";
import { run } from "./run.ts";
import { serve } from "./serve.ts";

export const commands: readonly Command[] = [run, serve, models, doctor];
