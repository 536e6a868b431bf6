import { expect, test } from "vitest";
import type { GetReplayResponse, ReplayItem } from "@/server/contracts/replay";
import { attemptFor } from "./attempt";
import { differences, type Planned } from "./difference";

const id = (n: number) => `01a22c2f-0a10-7a72-9aaa-${n.toString(16).padStart(12, "0")}`;
const item = (n: number, change: Partial<ReplayItem> = {}): ReplayItem =>
  ({ failureId: id(n), expectedContentFingerprint: "a".repeat(64), addedDependency: false, ...change }) as ReplayItem;
const plan = (items: ReplayItem[], before = 4, after = 7): Planned => ({
  items,
  planMetadata: {
    scopes: [{ scopeType: "AGGREGATE", scopeKey: "User:u", beforeVersion: before, afterVersion: after }],
  } as GetReplayResponse["planMetadata"],
});

test("ER-PLN-17 a plan equal to its preview shows no difference", () => {
  expect(differences(plan([item(1), item(2)]), plan([item(1), item(2)]))).toEqual([]);
});

test("ER-PLN-17 whatever a person looked at and the plan changed is shown: items, order, content, roles, scopes", () => {
  const preview = plan([item(1), item(2)]);
  const what = (other: Planned) => differences(preview, other).map((d) => d.what);
  expect(what(plan([item(1), item(2), item(3)]))).toEqual(["Transactions"]);
  expect(what(plan([item(2), item(1)]))).toEqual(["Order"]);
  expect(what(plan([item(1), item(2, { expectedContentFingerprint: "b".repeat(64) })]))).toEqual(["Content"]);
  expect(what(plan([item(1, { addedDependency: true }), item(2)]))).toEqual(["Selected or added"]);
  expect(differences(preview, plan([item(1), item(2)], 5, 7))).toEqual([
    { what: "User:u", preview: "4 → 7", plan: "5 → 7" },
  ]);
  expect(differences(preview, plan([item(1), item(3)]))[0]?.plan).toBe("2: 1 joined, 1 left");
});

test("ER-PLN-17 the same press again asks under the same key, another content under another", () => {
  let made = 0;
  const key = () => `key-${++made}`;
  const contents = { failureIds: [id(1), id(2)], strategy: "DEPENDENCY_CLOSURE", reason: "because" } as const;
  const first = attemptFor(undefined, contents, key);
  expect(attemptFor(first, { ...contents, failureIds: [id(2), id(1)] }, key).idempotencyKey).toBe("key-1");
  expect(attemptFor(first, { ...contents, reason: "because of X" }, key).idempotencyKey).toBe("key-2");
  expect(attemptFor(first, { ...contents, strategy: "EXACT" }, key).idempotencyKey).toBe("key-3");
  expect(attemptFor(first, { ...contents, failureIds: [id(1)] }, key).idempotencyKey).toBe("key-4");
});
