import { expect, test } from "vitest";
import { Problem, type ProblemCode } from "@/components/api/problem";
import type { createEventReplayPlan } from "@/server/contracts/replay";
import { missingByScope, rangesText, refusalOf } from "./refusal";

const A = "01a22c2f-0a10-7a72-9aaa-000000000001";
const B = "01a22c2f-0a10-7a72-9aaa-000000000002";
const C = "01a22c2f-0a10-7a72-9aaa-000000000003";
const ROOT = "0197b2c4-1f0a-7d3e-9b11-5a0c9e7d2f64";
const GAP = new Problem("REPLAY_GAP", false, {
  missing: [
    { scope: "User:u", version: 3 },
    { scope: ROOT, revision: 5, transactionId: B },
    { scope: "User:u", version: 5 },
    { scope: "User:u", version: 6 },
    { scope: "User:u", version: 7 },
  ],
  scopes: ["User:u", ROOT],
  failureIds: [B],
});
const asked = (ids: string[], strategy: "EXACT" | "DEPENDENCY_CLOSURE" = "DEPENDENCY_CLOSURE") => ({ ids, strategy });

test("ER-PLN-08 ER-UI-03 a gap names exactly the missing versions of each scope, and which of them are captured", () => {
  const missing = missingByScope(GAP);
  expect(missing.map((m) => [m.scopeType, m.scopeKey, rangesText(m), m.known])).toEqual([
    ["AGGREGATE", "User:u", "versions 3, 5 to 7", 0],
    ["GRAPH_ROOT", ROOT, "revision 5", 1],
  ]);
  const refusal = refusalOf(GAP, asked([A]));
  expect(refusal.sentence).toBe("5 versions are missing in 2 scopes, and a projection never skips one.");
  expect(refusal.failureIds).toEqual([B]);
});

test("ER-PLN-07 EXACT refused for missing predecessors leads on to the plan with predecessors", () => {
  const refusal = refusalOf(GAP, asked([A], "EXACT"));
  expect(refusal.title).toBe("What must run before the selected one is not in the plan");
  expect(refusal.ways).toEqual([{ kind: "CLOSURE" }]);
});

test("ER-PLN-08 a gap that no failure fills leads on to what does not wait for it, where there is anything else", () => {
  expect(refusalOf(GAP, asked([A, C])).ways).toEqual([
    {
      kind: "LEAVE_OUT_SCOPES",
      scopes: [
        { scopeType: "AGGREGATE", scopeKey: "User:u" },
        { scopeType: "GRAPH_ROOT", scopeKey: ROOT },
      ],
    },
  ]);
  expect(refusalOf(GAP, asked([A])).ways).toEqual([]);
});

test("ER-UI-05 every refusal of planning has a title and an advice of its own, and no text of the server", () => {
  const codes = [
    "FAILURE_NOT_FOUND",
    "REPLAY_GAP",
    "EVENT_NOT_REPLAYABLE",
    "EVENT_REPAIR_REQUIRED",
    "UNSUPPORTED_EVENT_TYPE",
    "UNSUPPORTED_PAYLOAD_VERSION",
    "TRANSACTION_INCOMPLETE",
    "PAYLOAD_UNAVAILABLE",
    "PAYLOAD_DIGEST_MISMATCH",
    "INVALID_REPLAY_STATE",
  ] as const satisfies readonly (typeof createEventReplayPlan)["errors"][number][];
  const titles = codes.map((code) => {
    const refusal = refusalOf(new Problem(code, false, { failureIds: [A] }, "r"), asked([A, B]));
    expect(refusal.advice, code).not.toBe("");
    return refusal.title;
  });
  expect(titles).not.toContain("The preview could not be computed");
});

test("a refusal that names selected failures offers the plan without them, and never an empty one", () => {
  const code: ProblemCode = "EVENT_NOT_REPLAYABLE";
  const said = new Problem(code, false, { failureIds: [A] });
  expect(refusalOf(said, asked([A, B])).ways).toEqual([{ kind: "LEAVE_OUT", ids: [A] }]);
  expect(refusalOf(said, asked([A])).ways).toEqual([]);
  // A predecessor that the closure would bring is no member of the selection: leaving it out is no way.
  const added = refusalOf(new Problem(code, false, { failureIds: [C] }), asked([A, B]));
  expect(added.ways).toEqual([]);
  expect(added.advice).toContain("What must run first would bring it in");
});

test("ER-PLN-16 a plan that is too large says which limit, and offers a smaller step of the same selection", () => {
  const of = (rule: string) =>
    refusalOf(
      new Problem("REPLAY_LIMIT_EXCEEDED", false, { errors: [{ field: "/failureIds", rule }] }),
      asked([A, B, C]),
    );
  expect(of("CLOSURE_TOO_LARGE").sentence).toContain("more than 500 transactions");
  expect(of("TOO_MANY_EVENTS").sentence).toContain("5,000 events");
  expect(of("TOO_MANY_BYTES").sentence).toContain("256 MiB");
  expect(of("TOO_MANY_BYTES").ways).toEqual([{ kind: "FEWER", first: 1 }]);
});

test("a scope that another failure's quarantine holds leads to the plan that takes it in", () => {
  const held = new Problem("INVALID_REPLAY_STATE", false, { failureIds: [B], scopes: ["User:u"] });
  expect(refusalOf(held, asked([A], "EXACT")).ways).toEqual([{ kind: "CLOSURE" }]);
});
