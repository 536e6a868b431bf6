import { expect, test } from "vitest";
import { AppError } from "@/server/platform/errors";
import { appendError } from "./append-errors";

const databaseError = (code: string, constraint?: string) =>
  Object.assign(new Error("Key (id)=(canary) already exists"), {
    code,
    constraint,
    detail: "canary",
    table: "event_store_t",
  });

test("ER-APP-16 a race that only the database sees ends in the coded refusal of its field, without the database's text", () => {
  const cases = [
    ["event_store_pk", "/id", "DUPLICATE_EVENT_ID"],
    ["event_store_aggregate_version_uk", "/aggregateversion", "VERSION_CONFLICT"],
    ["outbox_message_transaction_uk", "/transactionid", "TRANSACTION_ID_REUSED"],
  ] as const;
  for (const [constraint, field, rule] of cases) {
    const error = appendError(databaseError("23505", constraint));
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({ code: "INVALID_REQUEST", details: { errors: [{ field, rule }] } });
    expect(JSON.stringify(error) + String(error)).not.toContain("canary");
  }
});

test("ER-CAP-35 a scope whose lock isn't free in time is refused as a guard that can't be read", () => {
  expect(appendError(databaseError("55P03"))).toMatchObject({ code: "ORDERED_SCOPE_GUARD_UNAVAILABLE" });
});

test("ER-APP-16 an error that isn't the caller's stays what it is", () => {
  const unknown = databaseError("XX000");
  expect(appendError(unknown)).toBe(unknown);
  const unforeseen = databaseError("23505", "something_else");
  expect(appendError(unforeseen)).toBe(unforeseen);
});
