import fc from "fast-check";
import { expect, test } from "vitest";
import type { ColumnValue, ProjectionTable, RowChange } from "./types";
import { planWaves, type Wave } from "./waves";

const table = (name: string, parents: ProjectionTable["parents"] = [], otherUnique = false): ProjectionTable => ({
  name,
  columns: { id: "text", ref: "text", a: "text", b: "text" },
  key: ["id"],
  parents,
  otherUnique,
});
const TABLES = new Map(
  [
    table("grand"),
    table("parent", [{ table: "grand", columns: ["ref"] }]),
    table("child", [{ table: "parent", columns: ["ref"] }]),
    table("solo", [], true),
  ].map((t) => [t.name, t]),
);

/** A tiny model of the database's rules: keys, foreign keys checked at the end of each statement, a value nobody may hold. */
class Model {
  rows = new Map<string, Map<string, Record<string, ColumnValue>>>([...TABLES.keys()].map((name) => [name, new Map()]));

  set(name: string, rows: readonly { key: readonly ColumnValue[]; set: Record<string, ColumnValue> }[]): void {
    const keys = rows.map((row) => String(row.key[0]));
    if (new Set(keys).size !== keys.length) throw new Error("a statement may touch a row once");
    for (const row of rows) {
      if (row.set.a === "bad") throw new Error("check");
      const before = this.rows.get(name)?.get(String(row.key[0])) ?? {};
      const after = { ...before, ...row.set };
      if (TABLES.get(name)?.otherUnique && after.b != null) {
        for (const [id, other] of this.rows.get(name) ?? [])
          if (id !== row.key[0] && other.b === after.b) throw new Error("unique");
      }
      this.rows.get(name)?.set(String(row.key[0]), after);
    }
    this.checkKeys();
  }

  delete(name: string, keys: readonly ColumnValue[]): void {
    for (const key of keys) this.rows.get(name)?.delete(String(key));
    this.checkKeys();
  }

  private checkKeys(): void {
    for (const t of TABLES.values()) {
      for (const parent of t.parents) {
        for (const row of this.rows.get(t.name)?.values() ?? []) {
          if (row.ref != null && !this.rows.get(parent.table)?.has(String(row.ref))) throw new Error("foreign key");
        }
      }
    }
  }
}

function oneByOne(changes: readonly RowChange[]): Model | null {
  const model = new Model();
  try {
    for (const change of changes) {
      if ("delete" in change) model.delete(change.table, change.key);
      else model.set(change.table, [{ key: change.key, set: change.set }]);
    }
    return model;
  } catch {
    return null;
  }
}

function inWaves(waves: readonly Wave[]): Model | null {
  const model = new Model();
  try {
    for (const wave of waves) {
      for (const sets of wave.sets) model.set(sets.table.name, sets.rows);
      for (const deletes of wave.deletes)
        model.delete(
          deletes.table.name,
          deletes.rows.map((row) => row.key[0] as ColumnValue),
        );
    }
    return model;
  } catch {
    return null;
  }
}

const change: fc.Arbitrary<RowChange> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .record({
        table: fc.constantFrom("grand", "parent", "child", "solo"),
        key: fc.constantFrom("1", "2", "3").map((id) => [id]),
        set: fc.oneof(
          fc.record({ ref: fc.constantFrom(null, null, "1", "1", "2", "3"), a: fc.constantFrom(..."xyxyxyxy", "bad") }),
          fc.record({ a: fc.constantFrom("x", "y") }),
          fc.record({ b: fc.constantFrom(null, "u", "v") }),
        ),
      })
      .map((c) => (c.table === "grand" || c.table === "solo" ? { ...c, set: omitRef(c.set) } : c)),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      table: fc.constantFrom("grand", "parent", "child", "solo"),
      key: fc.constantFrom("1", "2", "3").map((id) => [id]),
      delete: fc.constant(true as const),
    }),
  },
);
function omitRef(set: Record<string, ColumnValue>): Record<string, ColumnValue> {
  const { ref: _, ...rest } = set;
  return Object.keys(rest).length > 0 ? rest : { a: "x" };
}

test("waves succeed exactly when one by one succeeds, and leave the same rows", () => {
  let succeeded = 0;
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 14 }), (changes) => {
      const expected = oneByOne(changes);
      if (expected && changes.length > 5) succeeded += 1;
      const actual = inWaves(planWaves(changes, TABLES));
      expect(actual?.rows ?? null).toEqual(expected?.rows ?? null);
    }),
    { numRuns: 4000 },
  );
  expect(succeeded).toBeGreaterThan(300);
});

test("changes of many rows that touch no row twice are one statement a table and column list", () => {
  const changes: RowChange[] = Array.from({ length: 100 }, (_, i) => ({
    table: "grand",
    key: [`${i}`],
    set: { a: "x" },
  }));
  const waves = planWaves(changes, TABLES);
  expect(waves).toHaveLength(1);
  expect(waves[0]?.sets).toHaveLength(1);
});

test("rows of a table that may be reordered are sorted by key, so that two lanes lock in the same order", () => {
  const changes: RowChange[] = ["c", "a", "b"].map((id) => ({ table: "grand", key: [id], set: { a: "x" } }));
  expect(planWaves(changes, TABLES)[0]?.sets[0]?.rows.map((row) => row.key[0])).toEqual(["a", "b", "c"]);
});

test("a handler that names an undeclared table is refused", () => {
  expect(() => planWaves([{ table: "ghost", key: ["1"], set: {} }], TABLES)).toThrow(/undeclared/);
});
