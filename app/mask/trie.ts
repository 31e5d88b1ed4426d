/** The texts of all tokens as a tree of bytes, laid out in order: what lies below a node follows it. */

export interface Trie {
  /** Nodes, the root left out. */
  count: number;
  byte: Uint8Array;
  /** 1 for the first byte of a token. */
  depth: Uint16Array;
  /** The node behind all that lies below this one. */
  end: Uint32Array;
  /** count + 1 entries: the tokens of node i are ids[first[i] .. first[i + 1]]. */
  first: Uint32Array;
  ids: Uint32Array;
  deepest: number;
}

/** A character a byte; empty texts are left out. Texts above 65,535 bytes are cut off there, so that they never fit. */
export function buildTrie(texts: readonly string[]): Trie {
  const order: number[] = [];
  texts.forEach((text, id) => {
    if (text !== "" && text.length <= 0xffff) order.push(id);
  });
  order.sort((a, b) => {
    const [left, right] = [texts[a] as string, texts[b] as string];
    return left < right ? -1 : left > right ? 1 : a - b;
  });
  let most = 0;
  for (const id of order) most += (texts[id] as string).length;
  const byte = new Uint8Array(most);
  const depth = new Uint16Array(most);
  const end = new Uint32Array(most);
  const first = new Uint32Array(most + 1);
  const path: number[] = [];
  let count = 0;
  let before = "";
  order.forEach((id, index) => {
    const text = texts[id] as string;
    let same = 0;
    while (same < before.length && text.charCodeAt(same) === before.charCodeAt(same)) same++;
    while (path.length > same) end[path.pop() as number] = count;
    for (let at = same; at < text.length; at++) {
      byte[count] = text.charCodeAt(at);
      depth[count] = at + 1;
      // Of a node on the way, whose own tokens would have come before.
      first[count] = index;
      path.push(count++);
    }
    before = text;
  });
  while (path.length > 0) end[path.pop() as number] = count;
  first[count] = order.length;
  let deepest = 0;
  for (let at = 0; at < count; at++) deepest = Math.max(deepest, depth[at] as number);
  return {
    count,
    byte: byte.slice(0, count),
    depth: depth.slice(0, count),
    end: end.slice(0, count),
    first: first.slice(0, count + 1),
    ids: Uint32Array.from(order),
    deepest,
  };
}
