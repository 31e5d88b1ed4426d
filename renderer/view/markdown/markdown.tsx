// biome-ignore-all lint/suspicious/noArrayIndexKey: blocks only come at the end, so their place is their identity
import { memo, useMemo, useRef } from "react";
import { type BlockSplitter, createBlockSplitter, markdownBlocks, type Token } from "../../logic/markdown.ts";
import { MarkdownBlock } from "./block.tsx";

/** Text as Markdown. While it streams only its last block is lexed and drawn again. */
export const Markdown = memo(function Markdown({ text, streaming }: { text: string; streaming: boolean }) {
  const splitter = useRef<BlockSplitter | null>(null);
  const blocks = useMemo<readonly Token[]>(() => {
    if (!streaming) {
      splitter.current = null;
      return markdownBlocks(text);
    }
    splitter.current ??= createBlockSplitter();
    return splitter.current.update(text);
  }, [text, streaming]);
  return (
    <div className={streaming ? "markdown streaming" : "markdown"}>
      {blocks.map((block, index) =>
        block.type === "space" || block.type === "def" ? null : (
          <MarkdownBlock key={index} block={block} streaming={streaming && index === blocks.length - 1} />
        ),
      )}
    </div>
  );
});
