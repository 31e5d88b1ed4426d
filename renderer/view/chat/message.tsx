import { memo } from "react";
import type { ConversationRow } from "../../logic/conversation.ts";
import { useUi } from "../page.ts";
import { AssistantMessage } from "./assistant.tsx";
import { EditField } from "./edit-field.tsx";
import { UserMessage } from "./user.tsx";

export const MessageRow = memo(
  function MessageRow({ row, last }: { row: ConversationRow; last: boolean }) {
    const { message } = row;
    const editing = useUi((state) => state.editingId === message.id);
    const user = message.role === "user";
    return (
      <article
        className={`message ${message.role} column`}
        data-role={message.role}
        data-status={message.status}
        data-message-id={message.id}
        aria-label={user ? "You" : (message.modelName ?? "Assistant")}
        aria-busy={message.status === "streaming"}
      >
        {editing ? (
          <EditField message={message} />
        ) : user ? (
          <UserMessage row={row} last={last} />
        ) : (
          <AssistantMessage row={row} last={last} />
        )}
      </article>
    );
  },
  (before, after) =>
    before.last === after.last &&
    before.row.message === after.row.message &&
    before.row.index === after.row.index &&
    before.row.siblings.length === after.row.siblings.length,
);
