/** The shown chat stands in the address, so that a reload comes back to it. */

export function sessionOfHash(hash: string): string | null {
  const match = /^#\/chat\/(.+)$/.exec(hash);
  if (!match?.[1]) return null;
  try {
    return decodeURIComponent(match[1]);
  } catch {
    return null;
  }
}

export function hashOfSession(sessionId: string | null): string {
  return sessionId === null ? "#/" : `#/chat/${encodeURIComponent(sessionId)}`;
}
