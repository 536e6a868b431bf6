import { expect, test } from "vitest";
import { replayStatus } from "@/server/contracts/replay";
import { type DecisionFacts, mayApprove, mayCancel, mayExecute } from "./permissions";

const FACTS: DecisionFacts = {
  status: "AWAITING_APPROVAL",
  validationMode: "EXECUTE",
  stale: false,
  retryable: false,
  isRequester: false,
  human: true,
  mayApprove: true,
  mayExecute: true,
  mayCancel: true,
  paused: false,
};

test("ER-APR-05 the requester is told that someone else decides, whatever their role", () => {
  expect(mayApprove({ ...FACTS, isRequester: true })).toEqual({
    allowed: false,
    reason: "You asked for it, so someone else decides.",
  });
  expect(mayApprove(FACTS)).toEqual({ allowed: true, reason: null });
});

test("ER-APR-04 whoever may execute may do so after approval, the requester included", () => {
  expect(mayExecute({ ...FACTS, status: "APPROVED", isRequester: true }).allowed).toBe(true);
  expect(mayExecute(FACTS).allowed).toBe(false);
});

test("ER-API-06 a run is offered again only when the server calls it retryable", () => {
  for (const status of ["INSTALLING_BARRIER", "RUNNING"] as const) {
    expect(mayExecute({ ...FACTS, status }).allowed).toBe(false);
    expect(mayExecute({ ...FACTS, status, retryable: true }).allowed).toBe(true);
  }
});

test("ER-API-10 cancelling is offered in READY, AWAITING_APPROVAL and APPROVED alone", () => {
  const offered = replayStatus.options.filter((status) => mayCancel({ ...FACTS, status }).allowed);
  expect(offered).toEqual(["READY", "AWAITING_APPROVAL", "APPROVED"]);
});

test("ER-APR-09 a machine is offered nothing, and every no carries a reason", () => {
  for (const status of replayStatus.options) {
    for (const ask of [mayApprove, mayExecute, mayCancel]) {
      const answer = ask({ ...FACTS, status, human: false });
      expect(answer.allowed).toBe(false);
      expect(answer.reason).toMatch(/\.$/);
    }
  }
});
