import { expect, test } from "vitest";
import { createAccess } from "../../../../main/server/access.ts";

const options = { port: 7411, host: "127.0.0.1", token: "right" };
const bearer = "Bearer right";

test("every start has its own token", () => {
  const make = () => createAccess({ port: 1, host: "127.0.0.1" }).token;
  expect(make()).toHaveLength(32);
  expect(make()).not.toBe(make());
});

test.each([
  ["127.0.0.1:7411", true],
  ["localhost:7411", true],
  ["LOCALHOST:7411", true],
  ["[::1]:7411", true],
  ["localhost", false],
  ["localhost:80", false],
  ["evil.example:7411", false],
  ["127.0.0.1.evil.example:7411", false],
  ["", false],
])("host %j is let in: %s", (host, ok) => {
  const check = () => createAccess(options).checkHost({ host });
  if (ok) expect(check).not.toThrow();
  else
    expect(check).toThrow(expect.objectContaining({ code: "transport.unauthorised", detail: { host, status: 403 } }));
});

test("a name of one's own is let in when it is listed", () => {
  const access = createAccess({ ...options, host: "0.0.0.0", allowedHosts: ["Box.lan"] });
  expect(() => access.checkHost({ host: "box.lan:7411" })).not.toThrow();
  expect(() => access.checkHost({ host: "other.lan:7411" })).toThrow("other.lan");
});

test("a program needs the bearer token", () => {
  const access = createAccess(options);
  const host = "127.0.0.1:7411";
  expect(() => access.checkCaller({ host, authorization: bearer })).not.toThrow();
  expect(() => access.checkCaller({ host })).toThrow("token");
  for (const authorization of ["Bearer wrong", "Bearer right2", "Bearer", "Basic right", "right", ""]) {
    expect(() => access.checkCaller({ host, authorization })).toThrow("token");
  }
});

test("a page needs the cookie and an origin of this server", () => {
  const access = createAccess(options);
  const host = "127.0.0.1:7411";
  const [cookie = "", ...attributes] = access.cookie().split("; ");
  expect(attributes).toEqual(expect.arrayContaining(["HttpOnly", "SameSite=Strict"]));
  expect(cookie).not.toContain("right");
  const ours = { host, cookie: `a=b; ${cookie}`, origin: `http://${host}` };
  expect(() => access.checkCaller(ours)).not.toThrow();
  expect(() => access.checkCaller({ ...ours, origin: undefined })).toThrow("token");
  expect(() => access.checkCaller({ ...ours, cookie: "halogen-7411=right" })).toThrow("token");
  for (const origin of ["http://evil.example", "null", "https://127.0.0.1:7411", "http://localhost:7411", ""]) {
    expect(() => access.checkCaller({ ...ours, origin })).toThrow(
      expect.objectContaining({ detail: { origin, status: 403 } }),
    );
    expect(() => access.checkCaller({ ...ours, origin, authorization: bearer })).toThrow("may not use");
  }
});

test("two servers on one host do not share a cookie", () => {
  const name = (port: number) => createAccess({ port, host: "127.0.0.1" }).cookie().split("=")[0];
  expect(name(1)).not.toBe(name(2));
});
