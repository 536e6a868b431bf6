import { expect, test } from "vitest";
import { ERRORS } from "./errors";

/** The published table: code, HTTP status, retryable. Typed here again, so that no edit of the catalog passes unseen. */
const PUBLISHED = `
INVALID_REQUEST 400 no
AUTHORIZATION_DENIED 403 no
FAILURE_NOT_FOUND 404 no
REPAIR_NOT_FOUND 404 no
PAYLOAD_DIGEST_MISMATCH 409 no
REPLAY_EXECUTION_IN_PROGRESS 409 no
INVALID_REPLAY_STATE 409 no
REPAIR_APPROVER_MUST_DIFFER 409 no
REPLAY_LIMIT_EXCEEDED 413 no
TRANSACTION_INCOMPLETE 422 no
REPLAY_GAP 422 no
PAYLOAD_UNAVAILABLE 422 no
UNSUPPORTED_EVENT_TYPE 422 no
UNSUPPORTED_PAYLOAD_VERSION 422 no
ARCHIVE_CAPACITY_EXCEEDED 503 yes
ORDERED_SCOPE_GUARD_UNAVAILABLE 503 yes
STALE_PLAN 409 yes
LEASE_LOST 409 yes
PAUSE_TIMEOUT 409 yes
REPLAY_EXECUTION_PAUSED 409 yes
AGGREGATE_PROJECTION_BLOCKED 409 yes
AGGREGATE_REPAIR_REQUIRED 409 yes
REPAIR_NOT_APPROVED 409 yes
REPAIR_FINGERPRINT_MISMATCH 409 yes
EVENT_REPAIR_REQUIRED 422 no
EVENT_NOT_REPLAYABLE 422 no
REPAIR_IMMUTABLE_FIELD 422 no
REPAIR_SCHEMA_VALIDATION_FAILED 422 no
PROJECTION_FAILED 500 no
DEFERRED_PROJECTION_FAILED 500 no
FAILURE_PUBLICATION_TERMINAL 503 no
REPLAY_EXECUTION_UNAVAILABLE 503 yes
`;
const ADDED = `
UNAUTHENTICATED 401 no
REQUEST_NOT_FOUND 404 no
RATE_LIMITED 429 yes
INTERNAL 500 no
`;

const lines = (table: string) => table.trim().split("\n").sort();
const catalog = Object.entries(ERRORS).map(
  ([code, { status, retryable }]) => `${code} ${status} ${retryable ? "yes" : "no"}`,
);

test("ER-API-22 the catalog is the published table of 32 codes, their statuses and retryable flags, plus four of ours", () => {
  expect(lines(PUBLISHED)).toHaveLength(32);
  expect(catalog.sort()).toEqual([...lines(PUBLISHED), ...lines(ADDED)].sort());
});

test("ER-API-22 every code carries one sentence of ours", () => {
  for (const { sentence } of Object.values(ERRORS)) expect(sentence).toMatch(/^[A-Z][^{}%$]{10,120}\.$/);
});
