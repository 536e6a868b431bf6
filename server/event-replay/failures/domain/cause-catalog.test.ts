import { expect, test } from "vitest";
import { ERRORS } from "@/server/contracts/errors";
import { failureCause } from "@/server/contracts/failures";
import { causeKeyOf, describeCause, explainCause } from "./cause-catalog";
import { thingOfConstraint } from "./constraint-words";

const facts = (
  errorCode: string | null,
  sqlState: string | null = null,
  constraint: string | null = null,
  eventType: string | null = "AEvent",
) => ({
  errorCode,
  sqlState,
  constraint,
  eventType,
});
const tables = new Map([
  [
    "role_user_t",
    {
      parents: [
        { table: "role_t", columns: ["host_id", "role_id"] },
        { table: "user_t", columns: ["host_id", "user_id"] },
      ],
    },
  ],
  ["config_property_t", { parents: [{ table: "config_t", columns: ["host_id", "config_id"] }] }],
  ["role_t", { parents: [] }],
  ["api_version_t", { parents: [] }],
]);

test("ER-UI-01 every error code and SQLSTATE has a sentence and a way out of the fixed catalogue", () => {
  for (const code of [...Object.keys(ERRORS), "SOMETHING_NEW", null]) {
    for (const state of [null, "22001", "23502", "23503", "23505", "42P01", "XX000", "ZZ999"]) {
      const cause = describeCause(facts(code, state));
      expect(failureCause.safeParse(cause).success, `${code} ${state}`).toBe(true);
      expect(cause.sentence.length).toBeGreaterThan(5);
    }
  }
});

test("ER-UI-01 a cause is one constraint, one SQLSTATE of one type, or one gap over all types", () => {
  expect(causeKeyOf(facts("PROJECTION_FAILED", "23503", "a_fk", "A"))).toBe(
    causeKeyOf(facts("PROJECTION_FAILED", "23503", "a_fk", "B")),
  );
  expect(causeKeyOf(facts("PROJECTION_FAILED", "22001", null, "A"))).not.toBe(
    causeKeyOf(facts("PROJECTION_FAILED", "22001", null, "B")),
  );
  expect(causeKeyOf(facts("REPLAY_GAP", null, null, "A"))).toBe(causeKeyOf(facts("REPLAY_GAP", null, null, null)));
});

test("ER-UI-01 a foreign key names the missing row and a unique key the row that exists; an unknown name names none", () => {
  expect(describeCause(facts("PROJECTION_FAILED", "23503", "role_user_t_user_fkey"), { tables }).sentence).toBe(
    "User row is missing",
  );
  expect(describeCause(facts("PROJECTION_FAILED", "23503", "role_user_t_x_fkey"), { tables }).sentence).toBe(
    "A row it refers to is missing",
  );
  expect(describeCause(facts("PROJECTION_FAILED", "23503", "role_user_t_role_id_fkey"), { tables }).sentence).toBe(
    "Role row is missing",
  );
  expect(describeCause(facts("PROJECTION_FAILED", "23503", "config_property_t_config_fkey"), { tables }).sentence).toBe(
    "Config row is missing",
  );
  expect(describeCause(facts("PROJECTION_FAILED", "23505", "api_version_t_pkey"), { tables }).sentence).toBe(
    "API version row already exists",
  );
  expect(thingOfConstraint("whatever", "parent", tables)).toBeNull();
});

test("ER-UI-01 the way out follows what the registry knows of the type", () => {
  const code = (f: ReturnType<typeof facts>, context = {}) => describeCause(f, context).wayOut.code;
  expect(code(facts("REPLAY_GAP"))).toBe("COMES_BY_CLOSURE");
  expect(code(facts("PROJECTION_FAILED", "22001"))).toBe("FIX_THEN_REPLAY");
  expect(code(facts("PROJECTION_FAILED", "22001"), { repairable: true })).toBe("REPAIR");
  expect(code(facts("PROJECTION_FAILED", "23503"))).toBe("REPLAY_ORIGINAL");
  expect(code(facts("PROJECTION_FAILED", "23505"), { ordered: false })).toBe("REPLAY_OR_WAIVE");
  expect(code(facts("PROJECTION_FAILED", "23505"), { executable: false })).toBe("NOT_REPLAYABLE");
});

test("ER-CAP-19 a gap is explained with both versions, at scopes that hold nothing too", () => {
  const gap = describeCause(facts("REPLAY_GAP"));
  expect(explainCause(gap, { scopeType: "GRAPH_ROOT", expected: 5, got: 7 })).toMatch(
    /^Revision 7 arrived, but the projection is still at 4\./,
  );
  expect(explainCause(gap, { expected: 1, got: 2 })).toMatch(
    /^Version 2 arrived, but the projection holds none of this scope yet\./,
  );
});
