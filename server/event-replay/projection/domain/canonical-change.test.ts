import { expect, test } from "vitest";
import { canonicalChange } from "./canonical-change";
import type { ProjectionTable } from "./types";

const table: ProjectionTable = {
  name: "t",
  columns: { id: "uuid", n: "bigint", name: "text" },
  key: ["id", "n"],
  parents: [],
};
const tables = new Map([["t", table]]);
const UUID = "019a7e6f-a852-71ba-8af2-0321feccaafe";

test("one row has one key, however its uuid or number was spelled", () => {
  const keys = [
    [UUID, 7],
    [UUID.toUpperCase(), "7"],
    [UUID, "007"],
    [UUID, "+7"],
  ].map((key) => canonicalChange({ table: "t", key, delete: true }, tables).key.map(String));
  expect(new Set(keys.map((key) => key.join(" "))).size).toBe(1);
});

test("columns that may name a parent row are spelled the same way, texts stay as they are", () => {
  const change = canonicalChange({ table: "t", key: [UUID, 1], set: { name: "ABC", id: UUID.toUpperCase() } }, tables);
  expect(change).toMatchObject({ set: { name: "ABC", id: UUID } });
});

test("spellings the database takes too, but that are not plain, are refused", () => {
  for (const id of [`{${UUID}}`, UUID.replaceAll("-", ""), ` ${UUID}`, ""]) {
    expect(() => canonicalChange({ table: "t", key: [id, 1], delete: true }, tables)).toThrow();
  }
  for (const n of ["1.0", "1e2", " 1", "0x10", "1_000", ""]) {
    expect(() => canonicalChange({ table: "t", key: [UUID, n], delete: true }, tables)).toThrow();
  }
});

test("a key with a missing part, of the wrong length, or of an undeclared table or column is refused", () => {
  expect(() => canonicalChange({ table: "t", key: [UUID, null], delete: true }, tables)).toThrow();
  expect(() => canonicalChange({ table: "t", key: [UUID], delete: true }, tables)).toThrow();
  expect(() => canonicalChange({ table: "u", key: [UUID, 1], delete: true }, tables)).toThrow();
  expect(() => canonicalChange({ table: "t", key: [UUID, 1], set: { ghost: 1 } }, tables)).toThrow();
});
