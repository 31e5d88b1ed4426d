// biome-ignore-all lint/suspicious/noArrayIndexKey: blocks only come at the end, so their place is their identity
import { memo, useMemo, useRef } from "react";
import { type BlockSplitter, createBlockSplitter, markdownBlocks, type Token } from "../../logic/markdown.ts";
import { MarkdownBlock } from "./block.tsx";

/** Blocks in one box. A finished box is skipped as a whole by React and by layout, so a long reply costs a token no more than a short one. */
const boxed = 16;

const Box = memo(
  function Box({ blocks, streaming }: { blocks: readonly Token[]; streaming: boolean }) {
    return (
      <div className="blocks">
        {blocks.map((block, index) => (
          <MarkdownBlock key={index} block={block} streaming={streaming && index === blocks.length - 1} />
        ))}
      </div>
    );
  },
  (before, after) =>
    before.streaming === after.streaming &&
    before.blocks.length === after.blocks.length &&
    before.blocks.every((block, index) => block === after.blocks[index]),
);

function isShown(block: Token): boolean {
  return block.type !== "space" && block.type !== "def";
}

/** Text as Markdown. While it streams only its last block is lexed and drawn again. */
export const Markdown = memo(function Markdown({ text, streaming }: { text: string; streaming: boolean }) {
  const splitter = useRef<BlockSplitter | null>(null);
  const boxes = useMemo<Token[][]>(() => {
    if (streaming) splitter.current ??= createBlockSplitter();
    else splitter.current = null;
    const blocks = (splitter.current?.update(text) ?? markdownBlocks(text)).filter(isShown);
    return Array.from({ length: Math.ceil(blocks.length / boxed) }, (_, index) =>
      blocks.slice(index * boxed, (index + 1) * boxed),
    );
  }, [text, streaming]);
  return (
    <div className={streaming ? "markdown streaming" : "markdown"}>
      {boxes.map((blocks, index) => (
        <Box key={index} blocks={blocks} streaming={streaming && index === boxes.length - 1} />
      ))}
    </div>
  );
});
