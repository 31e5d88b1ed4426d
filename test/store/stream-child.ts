/**
 * A process that streams a reply into the store until it is killed: a token every few milliseconds, a flush every 100 ms. It reports on standard
 * output: `made <length> <time>` when text exists, `kept <length>` when a flush has returned. Text is predictable: unit i is letter i.
 */
import { writeSync } from "node:fs";
import { openStore } from "../../main/store/open.ts";
import { message } from "./maker.ts";
import { textOf } from "./stream-text.ts";

const [path = "", id = ""] = process.argv.slice(2);
const store = openStore({ path, clock: Date.now });
let length = 0;
const reply = () => message(id, textOf(length), { role: "assistant", status: "streaming" });
if (store.session("s1") === null) store.createSession({ id: "s1", title: "t", system: "", modelId: null });
store.addMessage(reply(), { head: true });

setInterval(() => {
  length += 1 + (length % 700);
  writeSync(1, `made ${length} ${Date.now()}\n`);
}, 4);
setInterval(() => {
  const flushed = length;
  store.updateMessage(reply());
  writeSync(1, `kept ${flushed}\n`);
}, 100);
