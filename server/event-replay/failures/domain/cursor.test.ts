import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeCursor, encodeCursor, isDatabaseInstant } from "@/server/platform/cursor";
import { idSearch, likeLiteral } from "./selection";

test("ER-API-21 a cursor gives back exactly its position, and nothing under another binding or with a changed character", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string(), { maxLength: 4 }),
      fc.array(fc.string({ maxLength: 40 }), { minLength: 1, maxLength: 5 }),
      fc.nat(),
      fc.constantFrom(..."ABCxyz019-_ =+"),
      (binding, position, at, char) => {
        const text = encodeCursor(binding, position);
        fc.pre(text.length <= 600);
        expect(decodeCursor(binding, text, position.length)).toEqual(position);
        expect(decodeCursor([...binding, "x"], text, position.length)).toBeNull();
        expect(decodeCursor(binding, text, position.length + 1)).toBeNull();
        const i = at % text.length;
        const changed = text.slice(0, i) + char + text.slice(i + 1);
        if (changed !== text) expect(decodeCursor(binding, changed, position.length)).toBeNull();
      },
    ),
  );
});

test("ER-API-21 any text that is no cursor decodes to null instead of throwing", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(decodeCursor(["b"], text, 2)).toBeNull();
    }),
  );
  expect(isDatabaseInstant("2026-11-30 21:47:00.123456+00")).toBe(true);
  for (const bad of ["2026-02-30 00:00:00+00", "2026-11-30 25:00:00+00", "2026-11-30T21:47:00Z", "infinity", ""]) {
    expect(isDatabaseInstant(bad), bad).toBe(false);
  }
});

test("ER-API-02 a search text is an id, the beginning of one, or neither, and LIKE's own characters are literal", () => {
  const id = "01a22cbd-7c4b-7184-8857-e7f3dc5fe98e";
  expect(idSearch(id.toUpperCase())).toEqual({ exact: id });
  expect(idSearch("01a22cbd-7c")).toEqual({
    from: "01a22cbd-7c00-0000-0000-000000000000",
    to: "01a22cbd-7cff-ffff-ffff-ffffffffffff",
  });
  for (const other of ["01a22cb", "01a2-2cbd7c", "User:01a22cbd", "zzzzzzzzz"])
    expect(idSearch(other), other).toBeNull();
  expect(likeLiteral("a%_\\b")).toBe("a\\%\\_\\\\b");
});
