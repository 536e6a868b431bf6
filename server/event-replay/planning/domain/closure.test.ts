import fc from "fast-check";
import { expect, test } from "vitest";
import { scopeId } from "@/server/event-replay/registry/domain/scopes";
import { closeOver, indexOpenWork, type OpenWrite } from "./closure";
import { history, type MadeFailure, writesOf } from "./testing/histories";

/** The definition, word by word: everything that writes an unprojected earlier version, until nothing is added. */
function bruteForce(rows: readonly OpenWrite[], selected: readonly string[]): Set<string> {
  const closure = new Set(selected);
  for (;;) {
    const before = closure.size;
    for (const late of rows.filter((row) => closure.has(row.failureId))) {
      for (const early of rows) {
        const sameScope = early.type === late.type && early.key === late.key;
        const unprojected = early.projected === null || early.lastVersion > early.projected;
        if (sameScope && unprojected && early.firstVersion < late.firstVersion) closure.add(early.failureId);
      }
    }
    if (closure.size === before) return closure;
  }
}

const selections = (failures: readonly MadeFailure[]) =>
  fc.subarray(
    failures.map((failure) => failure.failureId),
    { minLength: 1 },
  );

test("ER-PLN-06 the closure is every failed predecessor of every scope, transitively: equal to the definition by brute force", () => {
  fc.assert(
    fc.property(
      history().chain((made) => fc.tuple(fc.constant(made), selections(made.failures))),
      ([made, selected]) => {
        const rows = writesOf(made);
        expect([...closeOver(indexOpenWork(rows), selected)].sort()).toEqual([...bruteForce(rows, selected)].sort());
      },
    ),
    { numRuns: 400 },
  );
});

test("ER-PLN-06 one transaction over two scopes pulls in the predecessors of both, and theirs", () => {
  const row = (failureId: string, key: string, version: number): OpenWrite => ({
    type: "AGGREGATE",
    key,
    failureId,
    firstVersion: version,
    lastVersion: version,
    projected: 1,
  });
  const rows = [
    row("a2", "Account:a", 2),
    row("ab", "Account:a", 3),
    row("ab", "Account:b", 4),
    row("bc", "Account:b", 3),
    row("bc", "Account:c", 3),
    row("b2", "Account:b", 2),
    row("c2", "Account:c", 2),
    row("c4", "Account:c", 4),
    row("a4", "Account:a", 4),
  ];
  expect([...closeOver(indexOpenWork(rows), ["ab"])].sort()).toEqual(["a2", "ab", "b2", "bc", "c2"]);
});

test("ER-PLN-06 what is projected already is no predecessor, and later failures stay out", () => {
  const rows: OpenWrite[] = [1, 2, 3, 4].map((version) => ({
    type: "GRAPH_ROOT",
    key: "root",
    failureId: `r${version}`,
    firstVersion: version,
    lastVersion: version,
    projected: 2,
  }));
  expect([...closeOver(indexOpenWork(rows), ["r4"])].sort()).toEqual(["r3", "r4"]);
  expect([...closeOver(indexOpenWork(rows), ["r3"])]).toEqual(["r3"]);
});

test("ER-PLN-16 closing over a chain of one scope is linear: ten times the failures, ten times the reads", () => {
  const chain = (n: number): OpenWrite[] =>
    Array.from({ length: n }, (_, i) => ({
      type: "AGGREGATE",
      key: "Account:long",
      failureId: `f${i}`,
      firstVersion: i + 1,
      lastVersion: i + 1,
      projected: null,
    }));
  const looked = (n: number): number => {
    let reads = 0;
    const open = indexOpenWork(chain(n));
    const lanes = open.lanes.map(({ writes, owner }) => ({
      owner,
      writes: new Proxy(writes, {
        get(target, property, receiver) {
          if (typeof property === "string" && /^\d+$/.test(property)) reads++;
          return Reflect.get(target, property, receiver);
        },
      }),
    }));
    expect(closeOver({ ...open, lanes }, [`f${n - 1}`]).size).toBe(n);
    return reads;
  };
  expect(looked(20_000)).toBeLessThanOrEqual(looked(2_000) * 11);
});

test("ER-ISO-10 a scope in quarantine brings the failure that owns it, and what has to run before that one", () => {
  const row = (failureId: string, key: string, version: number): OpenWrite => ({
    type: "AGGREGATE",
    key,
    failureId,
    firstVersion: version,
    lastVersion: version,
    projected: 1,
  });
  const rows = [
    row("s3", "Account:s", 3),
    row("z2", "Account:z", 2),
    row("z3", "Account:z", 3),
    row("o2", "Account:o", 2),
  ];
  const owners = new Map([[scopeId({ type: "AGGREGATE", key: "Account:s" }), "z3"]]);
  expect([...closeOver(indexOpenWork(rows, owners), ["s3"])].sort()).toEqual(["s3", "z2", "z3"]);
  expect([...closeOver(indexOpenWork(rows, owners), ["o2"])]).toEqual(["o2"]);
});
