/** zod compiles its checks with `new Function` unless told not to; the page's policy forbids that. Must be the first import. */
import { config } from "zod";

config({ jitless: true });
