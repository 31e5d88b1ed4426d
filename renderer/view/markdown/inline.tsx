// biome-ignore-all lint/suspicious/noArrayIndexKey: tokens have no other identity than their place
import type { ReactNode } from "react";
import { decodeEntities, safeHref, type Token } from "../../logic/markdown.ts";

function OutsideLink({ href, title, children }: { href: string; title?: string | undefined; children: ReactNode }) {
  const safe = safeHref(href);
  if (safe === null) return <span title={href}>{children}</span>;
  return (
    <a href={safe} title={title ?? safe} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

function InlineToken({ token }: { token: Token }): ReactNode {
  switch (token.type) {
    case "text":
      return token.tokens ? <Inline tokens={token.tokens} /> : decodeEntities(token.text);
    case "escape":
      return token.text;
    case "strong":
      return (
        <strong>
          <Inline tokens={token.tokens ?? []} />
        </strong>
      );
    case "em":
      return (
        <em>
          <Inline tokens={token.tokens ?? []} />
        </em>
      );
    case "del":
      return (
        <del>
          <Inline tokens={token.tokens ?? []} />
        </del>
      );
    case "codespan":
      return <code>{token.text}</code>;
    case "br":
      return <br />;
    case "link":
      return (
        <OutsideLink href={token.href} title={token.title ?? undefined}>
          <Inline tokens={token.tokens ?? []} />
        </OutsideLink>
      );
    case "image":
      // Nothing is fetched for a reply; the picture stays a link.
      return <OutsideLink href={token.href}>{token.text === "" ? token.href : token.text}</OutsideLink>;
    default:
      return token.raw;
  }
}

export function Inline({ tokens }: { tokens: readonly Token[] }): ReactNode {
  return tokens.map((token, index) => <InlineToken key={index} token={token} />);
}
