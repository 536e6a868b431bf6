import { expect, test } from "vitest";
import { auditFilter, readAuditView, writeAuditView } from "./audit-view";
import { AUDIT_KINDS, auditWords } from "./audit-words";

const ID = "01a22f30-a64a-720a-a39f-cda940aaee17";

test("a view survives the URL, and what doesn't belong in it is left out", () => {
  const view = { when: "24h", what: "refusals", who: "https://issuer|ä b", about: ID } as const;
  expect(readAuditView(new URLSearchParams(writeAuditView(view)))).toEqual(view);
  expect(readAuditView(new URLSearchParams("when=constructor&what=__proto__&about=x&who="))).toEqual({});
});

test("time counts back from one moment, so that paging stays in one list", () => {
  const now = Date.parse("2026-12-01T01:00:00Z");
  expect(auditFilter({ when: "1h", what: "exports", about: ID }, ID, now)).toEqual({
    hostId: ID,
    from: "2026-12-01T00:00:00.000Z",
    events: ["AUDIT_EXPORTED"],
    subjectId: ID,
  });
});

test("a record reads in words, also one that this page has none of its own for", () => {
  expect(auditWords("EVENT_REPLAY_EXECUTION_REQUESTED")).toBe("Run asked");
  expect(auditWords("EVENT_REPLAY_BARRIER_RELEASED_WITH_GAP")).toBe("Barrier released with gap");
  for (const { events } of Object.values(AUDIT_KINDS))
    for (const event of events) expect(auditWords(event)).toMatch(/^[A-Z][a-z ]+$/);
});
