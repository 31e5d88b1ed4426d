import { editLast, nextVersion, previousVersion, regenerateLast, send, stop } from "./chat.ts";
import type { Command } from "./command.ts";
import { focusSearch } from "./search.ts";
import { newChat } from "./session.ts";
import { chooseModelCommand, closeOrStop, openSettings, toggleSidebar } from "./view.ts";

/** Every command that a key may reach. */
export const commands: readonly Command[] = [
  newChat,
  focusSearch,
  send,
  stop,
  regenerateLast,
  editLast,
  previousVersion,
  nextVersion,
  chooseModelCommand,
  toggleSidebar,
  openSettings,
  closeOrStop,
];
