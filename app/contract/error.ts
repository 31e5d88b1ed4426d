import { z } from "zod";
import { errorCodes } from "../error.ts";

export const wireErrorSchema = z.object({
  code: z.enum(errorCodes),
  message: z.string(),
  hint: z.string(),
  detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
});
