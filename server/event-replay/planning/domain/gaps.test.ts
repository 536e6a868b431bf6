import fc from "fast-check";
import { expect, test } from "vitest";
import { decideContinuity, type ScopeStanding } from "@/server/event-replay/projection/domain/continuity";
import { scopeId } from "@/server/event-replay/registry/domain/scopes";
import { checkContinuity, type KnownVersion, missingVersions } from "./gaps";
import { orderFailures } from "./order";
import type { PlanFailure } from "./plan";
import { history } from "./testing/histories";

/** What the executor would say, item after item. */
function executorAccepts(ordered: readonly PlanFailure[], projected: ReadonlyMap<string, number>): boolean {
  const standing = new Map<string, ScopeStanding>();
  for (const [id, version] of projected) standing.set(id, { projected: version, held: false });
  for (const { runs } of ordered) {
    const decision = decideContinuity(
      runs,
      (scope) => standing.get(scopeId(scope)) ?? { projected: null, held: false },
    );
    if (decision.kind !== "APPLY") return false;
    for (const run of runs) standing.set(scopeId(run), { projected: run.versions.at(-1) as number, held: false });
  }
  return true;
}

test("ER-PLN-08 a plan has no gap exactly when the executor would apply each of its items", () => {
  fc.assert(
    fc.property(
      history(12).chain((made) => fc.tuple(fc.constant(made), fc.subarray([...made.failures], { minLength: 1 }))),
      ([made, some]) => {
        const ordered = orderFailures(some);
        if (!ordered.ok) throw new Error("a history always has an order");
        const { gaps, overlapping } = checkContinuity(ordered.failures, made.projected, []);
        expect(gaps.length === 0 && overlapping.length === 0).toBe(executorAccepts(ordered.failures, made.projected));
      },
    ),
    { numRuns: 400 },
  );
});

test("ER-PLN-10 every scope of the plan is recorded once with its version before and after, canonical order", () => {
  fc.assert(
    fc.property(history(), (made) => {
      const ordered = orderFailures(made.failures);
      if (!ordered.ok) throw new Error("a history always has an order");
      const { scopes } = checkContinuity(ordered.failures, made.projected, []);
      const last = new Map<string, number>();
      for (const { runs } of made.failures)
        for (const run of runs) last.set(scopeId(run), run.versions.at(-1) as number);
      expect(scopes.map((s) => scopeId({ type: s.scopeType, key: s.scopeKey }))).toEqual([...last.keys()].sort());
      for (const scope of scopes) {
        const id = scopeId({ type: scope.scopeType, key: scope.scopeKey });
        expect([scope.before, scope.after]).toEqual([made.projected.get(id) ?? null, last.get(id)]);
      }
    }),
    { numRuns: 200 },
  );
});

const one = (key: string, versions: number[], baseline = false): PlanFailure => ({
  failureId: `${key} ${versions}`,
  contentFingerprint: "f",
  eventCount: 1,
  payloadBytes: 1,
  firstPosition: 1,
  runs: [{ type: "AGGREGATE", key, versions, declaresBaseline: baseline }],
});
const standing = (...entries: [string, number][]) =>
  new Map(entries.map(([key, version]) => [scopeId({ type: "AGGREGATE", key }), version]));
const known = (key: string, version: number): KnownVersion => ({
  type: "AGGREGATE",
  key,
  version,
  failureId: "waived",
  transactionId: "its transaction",
});

test("ER-PLN-08 each missing version is named, with the transaction that wrote it where one is known", () => {
  const { gaps } = checkContinuity([one("a", [6, 7])], standing(["a", 3]), [known("a", 5)]);
  expect(missingVersions(gaps, 100)).toEqual([
    { scope: "a", version: 4 },
    { scope: "a", version: 5, transactionId: "its transaction" },
  ]);
});

test("ER-PLN-08 the list of missing versions is bounded however wide the gap is", () => {
  const { gaps } = checkContinuity([one("a", [9_000_000_000])], standing(["a", 1]), []);
  expect(missingVersions(gaps, 3)).toEqual([2, 3, 4].map((version) => ({ scope: "a", version })));
});

test("ER-PLN-22 an unknown scope begins with its first version, but not over a waived or non-executable one", () => {
  expect(checkContinuity([one("a", [3])], new Map(), []).gaps).toEqual([]);
  const { gaps } = checkContinuity([one("a", [3])], new Map(), [known("a", 1)]);
  expect(missingVersions(gaps, 10).map(({ version }) => version)).toEqual([1, 2]);
});

test("ER-PLN-22 a declared baseline jumps over versions nobody knows, never over a waived or non-executable one", () => {
  expect(checkContinuity([one("a", [9], true)], standing(["a", 2]), []).gaps).toEqual([]);
  const { gaps } = checkContinuity([one("a", [9], true)], standing(["a", 2]), [known("a", 8)]);
  expect(missingVersions(gaps, 10)).toEqual([{ scope: "a", version: 8, transactionId: "its transaction" }]);
});

test("ER-PLN-08 a version that is projected already, or written twice, is told apart from a gap", () => {
  const { gaps, overlapping } = checkContinuity([one("a", [2])], standing(["a", 2]), []);
  expect([gaps, overlapping]).toEqual([[], ["a 2"]]);
  const twice = checkContinuity([one("a", [3]), { ...one("a", [3]), failureId: "again" }], standing(["a", 2]), []);
  expect(twice.overlapping).toEqual(["again"]);
});

test("ER-PLN-21 a hole in one scope of several is reported for that scope alone", () => {
  const both: PlanFailure = {
    ...one("a", [2]),
    runs: [
      { type: "AGGREGATE", key: "a", versions: [2], declaresBaseline: false },
      { type: "GRAPH_ROOT", key: "root", versions: [7], declaresBaseline: false },
    ],
  };
  const projected = new Map([...standing(["a", 1]), [scopeId({ type: "GRAPH_ROOT", key: "root" }), 5]]);
  const { gaps } = checkContinuity([both], projected, []);
  expect(missingVersions(gaps, 10)).toEqual([{ scope: "root", revision: 6 }]);
});
