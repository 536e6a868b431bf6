import fc from "fast-check";
import { expect, test } from "vitest";
import { derivePolicy, type OrderingEvidence } from "./derive-policy";
import { compareScopes, encodeAggregateScopeKey } from "./scopes";

const NOTHING: OrderingEvidence = {
  aggregateType: null,
  aggregateId: null,
  aggregateVersion: null,
  rootInstanceId: null,
  graphRevision: null,
};
const AGGREGATE = { aggregateType: "User", aggregateId: "u-1", aggregateVersion: 3 };
const GRAPH = { rootInstanceId: "r-1", graphRevision: 9 };

const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
const evidence: fc.Arbitrary<OrderingEvidence> = fc.record({
  aggregateType: optional(fc.constantFrom("User", "Role")),
  aggregateId: optional(fc.constantFrom("1", "2")),
  aggregateVersion: optional(fc.integer({ min: -2, max: 5 })),
  rootInstanceId: optional(fc.constantFrom("r1", "r2")),
  graphRevision: optional(fc.integer({ min: -2, max: 5 })),
  excluded: fc.boolean(),
});

test("ER-APP-35 metadata alone gives the policy, or the event is invalid", () => {
  fc.assert(
    fc.property(evidence, (event) => {
      const graph = [event.rootInstanceId, event.graphRevision].filter((part) => part !== null).length;
      const aggregate = [event.aggregateType, event.aggregateId, event.aggregateVersion].filter(
        (part) => part !== null,
      ).length;
      const broken =
        graph === 1 ||
        aggregate === 1 ||
        aggregate === 2 ||
        (event.graphRevision ?? 1) < 1 ||
        (event.aggregateVersion ?? 1) < 1 ||
        (event.excluded === true && graph + aggregate > 0);
      const derived = derivePolicy(event);
      expect(derived.ok).toBe(!broken);
      if (!derived.ok) return;
      const expected = event.excluded
        ? "NOT_REPLAYABLE"
        : graph === 2
          ? "GRAPH_ROOT"
          : aggregate === 3
            ? "AGGREGATE_VERSION"
            : "TRANSACTION_ONLY";
      expect(derived.policy).toBe(expected);
      expect(derived.scopes.length).toBe((graph === 2 ? 1 : 0) + (aggregate === 3 ? 1 : 0));
    }),
    { numRuns: 2_000 },
  );
});

test("ER-APP-36 graph evidence outranks aggregate evidence, and the event stays in both scopes", () => {
  expect(derivePolicy({ ...NOTHING, ...AGGREGATE, ...GRAPH })).toEqual({
    ok: true,
    policy: "GRAPH_ROOT",
    scopes: [
      { type: "GRAPH_ROOT", key: "r-1", version: 9 },
      { type: "AGGREGATE", key: "User:u-1", version: 3 },
    ],
  });
});

test("ER-APP-36 half of a pair is contradictory even beside complete evidence of the other kind", () => {
  for (const half of [{ rootInstanceId: "r-1" }, { graphRevision: 9 }]) {
    expect(derivePolicy({ ...NOTHING, ...AGGREGATE, ...half })).toEqual({
      ok: false,
      rule: "GRAPH_METADATA_INCOMPLETE",
    });
  }
  const halves = [
    { aggregateVersion: 3 },
    { aggregateType: "User" },
    { aggregateId: "u-1" },
    { aggregateType: "User", aggregateVersion: 3 },
    { aggregateId: "u-1", aggregateVersion: 3 },
  ];
  for (const half of halves) {
    expect(derivePolicy({ ...NOTHING, ...GRAPH, ...half })).toEqual({
      ok: false,
      rule: "AGGREGATE_METADATA_INCOMPLETE",
    });
  }
});

test("ER-APP-37 a UserDeletedEvent derives AGGREGATE_VERSION from its metadata alone", () => {
  expect(derivePolicy({ ...NOTHING, ...AGGREGATE })).toMatchObject({ ok: true, policy: "AGGREGATE_VERSION" });
});

test("ER-CAP-28 the aggregate scope key is type:id and, as a type holds no colon, one key means one aggregate", () => {
  const type = fc.string({ minLength: 1 }).filter((text) => !text.includes(":"));
  const aggregate = fc.tuple(type, fc.string());
  fc.assert(
    fc.property(aggregate, aggregate, (a, b) => {
      const same = a[0] === b[0] && a[1] === b[1];
      expect(encodeAggregateScopeKey(...a) === encodeAggregateScopeKey(...b)).toBe(same);
      expect(encodeAggregateScopeKey(...a)).toBe(`${a[0]}:${a[1]}`);
    }),
  );
});

test("ER-CAP-28 scopes have one total order, whatever order they arrive in", () => {
  const scope = fc.record({
    type: fc.constantFrom("AGGREGATE" as const, "GRAPH_ROOT" as const),
    key: fc.string({ maxLength: 3 }),
  });
  fc.assert(
    fc.property(fc.array(scope), (scopes) => {
      expect([...scopes].reverse().sort(compareScopes)).toEqual([...scopes].sort(compareScopes));
    }),
  );
});
