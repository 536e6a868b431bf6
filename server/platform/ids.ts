import { v7 } from "uuid";

/** Time-ordered UUID (version 7): new rows land at the end of their index. */
export function newId(): string {
  return v7();
}

const CANONICAL_UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** True only for the canonical text: lowercase, hyphenated, no braces (ER-APP-01). */
export function isCanonicalUuid(text: unknown): text is string {
  return typeof text === "string" && CANONICAL_UUID.test(text);
}

/** Number of host partitions. Fixed: it is part of every stored offset. */
export const PARTITION_COUNT = 16;

/** Host partition = low four bits of the UUID's last byte (design §3 Order). Stored with the row, never recomputed in SQL. */
export function partitionOfHost(hostId: string): number {
  return Number.parseInt(hostId.slice(-1), 16);
}
