// biome-ignore-all lint/suspicious/noArrayIndexKey: tokens only come at the end, so their place is their identity
import { memo, type ReactNode } from "react";
import type { Token, Tokens } from "../../logic/markdown.ts";
import { CodeBlock } from "./code-block.tsx";
import { Inline } from "./inline.tsx";

function List({ list }: { list: Tokens.List }) {
  const items = list.items.map((item, index) => <ListItem key={index} item={item} />);
  return list.ordered ? (
    <ol start={typeof list.start === "number" ? list.start : 1}>{items}</ol>
  ) : (
    <ul className={list.items.some((item) => item.task) ? "tasks" : undefined}>{items}</ul>
  );
}

const ListItem = memo(
  function ListItem({ item }: { item: Tokens.ListItem }) {
    return (
      <li>
        {item.tokens.map((token, index) => (
          <ItemPart key={index} token={token} />
        ))}
      </li>
    );
  },
  (before, after) => before.item.raw === after.item.raw && before.item.loose === after.item.loose,
);

/** A tight item's text has no paragraph around it. */
function ItemPart({ token }: { token: Token }) {
  if (token.type === "text") return <Inline tokens={token.tokens ?? [token]} />;
  if (token.type === "checkbox") {
    const { checked } = token as Tokens.Checkbox;
    return (
      <input type="checkbox" checked={checked} readOnly tabIndex={-1} aria-label={checked ? "Done" : "Not done"} />
    );
  }
  return <BlockBody block={token} streaming={false} />;
}

function Table({ table }: { table: Tokens.Table }) {
  const cell = (content: Tokens.TableCell, index: number, Tag: "th" | "td") => (
    <Tag
      key={index}
      className={content.align ? `align-${content.align}` : undefined}
      {...(Tag === "th" ? { scope: "col" } : {})}
    >
      <Inline tokens={content.tokens} />
    </Tag>
  );
  return (
    // A region that scrolls must be reachable by keyboard.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: wide tables scroll sideways
    <section className="table" tabIndex={0} aria-label="Table">
      <table>
        <thead>
          <tr>{table.header.map((content, index) => cell(content, index, "th"))}</tr>
        </thead>
        <tbody>
          {table.rows.map((row, index) => (
            <tr key={index}>{row.map((content, column) => cell(content, column, "td"))}</tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Heading({ heading }: { heading: Tokens.Heading }) {
  const children: ReactNode = <Inline tokens={heading.tokens} />;
  // The page's own headings are h1 and h2; a reply's begin below them.
  if (heading.depth === 1) return <h3 className="size-1">{children}</h3>;
  if (heading.depth === 2) return <h4 className="size-2">{children}</h4>;
  return <h5 className="size-3">{children}</h5>;
}

function BlockBody({ block, streaming }: { block: Token; streaming: boolean }): ReactNode {
  switch (block.type) {
    case "paragraph":
      return (
        <p>
          <Inline tokens={block.tokens ?? []} />
        </p>
      );
    case "text":
      return (
        <p>
          <Inline tokens={block.tokens ?? [block]} />
        </p>
      );
    case "heading":
      return <Heading heading={block as Tokens.Heading} />;
    case "code":
      return <CodeBlock code={block.text} language={block.lang ?? ""} streaming={streaming} />;
    case "list":
      return <List list={block as Tokens.List} />;
    case "blockquote":
      return (
        <blockquote>
          {(block.tokens ?? []).map((token, index) => (
            <BlockBody key={index} block={token} streaming={false} />
          ))}
        </blockquote>
      );
    case "table":
      return <Table table={block as Tokens.Table} />;
    case "hr":
      return <hr />;
    case "space":
    case "def":
      return null;
    default:
      // Live HTML is never made; what looks like it, or is not known, is shown as written.
      return <p className="verbatim">{block.raw.replace(/\n+$/, "")}</p>;
  }
}

export const MarkdownBlock = memo(
  function MarkdownBlock({ block, streaming }: { block: Token; streaming: boolean }) {
    return <BlockBody block={block} streaming={streaming} />;
  },
  (before, after) =>
    before.block === after.block ||
    (before.block.type === after.block.type &&
      before.block.raw === after.block.raw &&
      before.streaming === after.streaming),
);
