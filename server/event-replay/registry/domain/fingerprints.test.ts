import fc from "fast-check";
import { expect, test } from "vitest";
import { sha256Hex, toWireDigest } from "@/server/platform/digest";
import {
  type ContentFields,
  contentFingerprint,
  correctedTransactionFingerprint,
  deliveryFingerprint,
  repairApprovalFingerprint,
} from "./fingerprints";

/** Texts made of what an unsafe join would use as delimiter. */
const text = fc
  .array(fc.constantFrom("a", "b", "", "\u0000", ",", "|", ":", "1", "\u0001"), { maxLength: 4 })
  .map((parts) => parts.join(""));

const content: fc.Arbitrary<ContentFields> = fc.record({
  projectionName: text,
  consumerGroup: text,
  originalTransactionId: text,
  eventIds: fc.array(text, { maxLength: 3 }),
  payloadDigests: fc.array(text, { maxLength: 3 }),
});

test("ER-CAP-23 two different contents never share a fingerprint, whatever delimiters their fields hold", () => {
  fc.assert(
    fc.property(content, content, (a, b) => {
      const same = JSON.stringify(a) === JSON.stringify(b);
      expect(contentFingerprint(a) === contentFingerprint(b)).toBe(same);
    }),
    { numRuns: 2_000 },
  );
  const base = {
    projectionName: "p",
    consumerGroup: "g",
    originalTransactionId: "t",
    eventIds: ["ab"],
    payloadDigests: [],
  };
  expect(contentFingerprint(base)).not.toBe(contentFingerprint({ ...base, eventIds: ["a", "b"] }));
  expect(contentFingerprint(base)).not.toBe(contentFingerprint({ ...base, eventIds: [], payloadDigests: ["ab"] }));
  expect(contentFingerprint(base)).not.toBe(contentFingerprint({ ...base, projectionName: "pg", consumerGroup: "" }));
});

test("ER-CAP-23 the fingerprint is lowercase hex of exactly the published bytes, sha256: on the wire", () => {
  const hex = contentFingerprint({
    projectionName: "p",
    consumerGroup: "g",
    originalTransactionId: "t",
    eventIds: ["e1", "e2"],
    payloadDigests: [],
  });
  const bytes = Buffer.from(
    [
      "00000001",
      "70",
      "00000001",
      "67",
      "00000001",
      "74",
      "00000002",
      "00000002",
      "6531",
      "00000002",
      "6532",
      "00000000",
    ].join(""),
    "hex",
  );
  expect(hex).toBe(sha256Hex(bytes));
  expect(toWireDigest(hex)).toMatch(/^sha256:[0-9a-f]{64}$/);
});

test("ER-CAP-23 a delivery differs by processor or coordinates while its content stays the same", () => {
  const fields = {
    projectionName: "p",
    consumerGroup: "g",
    originalTransactionId: "t",
    eventIds: ["e"],
    payloadDigests: ["d"],
  };
  const delivery = (topic: string | null, partition: number, offset: number, processor = "KAFKA") =>
    deliveryFingerprint(fields, { processor, coordinates: [{ topic, partition, offset }] });
  const all = [
    delivery("t", 1, 23),
    delivery("t", 12, 3),
    delivery("t1", 2, 3),
    delivery(null, 1, 23),
    delivery("", 1, 23),
    delivery("t", 1, 23, "DATABASE"),
    contentFingerprint(fields),
  ];
  expect(new Set(all).size).toBe(all.length);
});

test("ER-PAY-15 fingerprints are made of plain digests and names only, so storage can't move them", () => {
  const original = "0".repeat(64);
  const corrected = correctedTransactionFingerprint({
    originalFingerprint: original,
    repairSchemaVersion: "s-1",
    correctedDigests: [sha256Hex("a"), sha256Hex("b")],
    changedFields: ["city"],
  });
  const approval = repairApprovalFingerprint({
    repairId: "r",
    originalFingerprint: original,
    correctedFingerprint: corrected,
    repairSchemaVersion: "s-1",
  });
  const again = correctedTransactionFingerprint({
    originalFingerprint: original,
    repairSchemaVersion: "s-1",
    correctedDigests: [sha256Hex(Buffer.from("a")), sha256Hex(Buffer.from("b"))],
    changedFields: ["city"],
  });
  expect(again).toBe(corrected);
  const swapped = correctedTransactionFingerprint({
    originalFingerprint: original,
    repairSchemaVersion: "s-1",
    correctedDigests: [sha256Hex("b"), sha256Hex("a")],
    changedFields: ["city"],
  });
  expect(new Set([corrected, approval, swapped]).size).toBe(3);
});
