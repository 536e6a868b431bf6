import fc from "fast-check";
import { expect, test } from "vitest";
import type { Scope } from "@/server/event-replay/registry/domain/scopes";
import { decideContinuity, type ScopeStanding } from "./continuity";
import type { ScopeRun } from "./membership";

const run = (key: string, versions: number[], declaresBaseline = false): ScopeRun => ({
  type: "AGGREGATE",
  key,
  versions,
  declaresBaseline,
});
const board =
  (standings: Record<string, ScopeStanding>) =>
  (scope: Scope): ScopeStanding =>
    standings[scope.key] ?? { projected: null, held: false };
const at = (projected: number | null, held = false): ScopeStanding => ({ projected, held });

test("ER-APP-38 the next version is exactly projected + 1; anything higher is a gap that names expected and got", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1000 }), fc.integer({ min: 1, max: 1000 }), (projected, version) => {
      const decision = decideContinuity([run("A", [version])], board({ A: at(projected) }));
      if (version <= projected) expect(decision.kind).toBe("ALREADY_PROJECTED");
      else if (version === projected + 1) expect(decision.kind).toBe("APPLY");
      else expect(decision).toMatchObject({ kind: "GAP", expected: projected + 1, got: version });
    }),
  );
});

test("ER-EXE-09 a version at or below the projected one is an idempotent no-op, held or not", () => {
  for (const held of [false, true]) {
    expect(decideContinuity([run("A", [3])], board({ A: at(3, held) })).kind).toBe("ALREADY_PROJECTED");
    expect(decideContinuity([run("A", [1, 2])], board({ A: at(7, held) })).kind).toBe("ALREADY_PROJECTED");
  }
});

test("ER-EXE-18 a scope held by an open failure takes nothing newer, not even its next version or a first one", () => {
  expect(decideContinuity([run("A", [4])], board({ A: at(3, true) }))).toMatchObject({ kind: "GAP", got: 4 });
  expect(decideContinuity([run("A", [1])], board({ A: at(null, true) }))).toMatchObject({
    kind: "GAP",
    expected: null,
  });
});

test("an unknown scope takes its first version as baseline, whatever it is", () => {
  expect(decideContinuity([run("A", [17, 18])], board({})).kind).toBe("APPLY");
});

test("an import's baseline may jump forward, never backward and never past an open failure", () => {
  expect(decideContinuity([run("A", [9], true)], board({ A: at(3) })).kind).toBe("APPLY");
  expect(decideContinuity([run("A", [9], true)], board({ A: at(3, true) })).kind).toBe("GAP");
  expect(decideContinuity([run("A", [2], true)], board({ A: at(3) })).kind).toBe("ALREADY_PROJECTED");
});

test("ER-ISO-02 one bad scope refuses the whole transaction: no scope of it is applied", () => {
  const runs = [run("A", [4]), run("B", [9]), run("C", [1])];
  expect(decideContinuity(runs, board({ A: at(3), B: at(1), C: at(null) }))).toMatchObject({
    kind: "GAP",
    scope: { key: "B" },
    expected: 2,
    got: 9,
  });
});

test("a transaction whose scopes are partly ahead never runs in part", () => {
  expect(decideContinuity([run("A", [4]), run("B", [2])], board({ A: at(4), B: at(1) }))).toMatchObject({
    kind: "GAP",
    scope: { key: "A" },
  });
});

test("versions inside one transaction are contiguous and ascending", () => {
  expect(decideContinuity([run("A", [4, 6])], board({ A: at(3) }))).toMatchObject({ kind: "GAP", expected: 5, got: 6 });
  expect(decideContinuity([run("A", [4, 3])], board({ A: at(3) })).kind).toBe("GAP");
  expect(decideContinuity([run("A", [4, 5, 6])], board({ A: at(3) })).kind).toBe("APPLY");
});

test("a transaction without ordering evidence has nothing to compare", () => {
  expect(decideContinuity([], board({})).kind).toBe("APPLY");
});
