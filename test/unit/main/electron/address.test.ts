import { expect, test } from "vitest";
import { isOutside, isPage, pageAddress } from "../../../../main/electron/address.ts";

test.each([pageAddress, "app://halogen/index.html", "app://halogen/assets/x.js?y#z"])("%s is ours", (address) => {
  expect(isPage(address)).toBe(true);
  expect(isOutside(address)).toBe(false);
});

test.each([
  "",
  "about:blank",
  "app://",
  "app://evil/",
  "app://halogen.evil/",
  "app://user@halogen/",
  "https://halogen/",
  "file:///app/halogen/index.html",
  "data:text/html,app://halogen/",
  "blob:app://halogen/1",
  "javascript:alert(1)",
])("%j is not ours", (address) => {
  expect(isPage(address)).toBe(false);
});

test.each(["https://example.com/", "http://127.0.0.1:1/"])("%s may be opened outside", (address) => {
  expect(isOutside(address)).toBe(true);
});

test.each([
  "file:///etc/passwd",
  "javascript:alert(1)",
  "smb://x/y",
  "ms-msdt:/id",
  "mailto:a@b",
  "",
  "https://user:word@example.com/",
])("%j may not be opened outside", (address) => {
  expect(isOutside(address)).toBe(false);
});
