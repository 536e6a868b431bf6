import { createReadStream } from "node:fs";
import { APPEND_LIMITS } from "@/server/event-replay/registry/domain/limits";

/** An event may be spelled with more white space and escapes than its canonical form needs. */
export const MAX_LINE_BYTES = APPEND_LIMITS.payloadBytes + 1024 * 1024;

export type FileLine =
  | { readonly line: number; readonly bytes: Buffer }
  | { readonly line: number; readonly bytes: null };

const NEWLINE = 0x0a;

/**
 * Lines of a file from 1, without their ends; blank lines are skipped but counted. A line over MAX_LINE_BYTES comes without
 * its bytes and was never held in memory. `onBytes` hears how far the reading has come.
 */
export async function* readLines(path: string, onBytes?: (bytes: number) => void): AsyncGenerator<FileLine> {
  let line = 1;
  let parts: Buffer[] = [];
  let length = 0;
  const take = (): FileLine | null => {
    const bytes = length > MAX_LINE_BYTES ? null : Buffer.concat(parts);
    const current = line++;
    parts = [];
    length = 0;
    return bytes !== null && isBlank(bytes) ? null : { line: current, bytes };
  };
  const add = (part: Buffer) => {
    length += part.length;
    if (length > MAX_LINE_BYTES) parts = [];
    else parts.push(part);
  };
  for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 }) as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      add(chunk.subarray(start, end));
      const whole = take();
      if (whole) yield whole;
      start = end + 1;
    }
    if (start < chunk.length) add(chunk.subarray(start));
    onBytes?.(chunk.length);
  }
  if (length > 0) {
    const last = take();
    if (last) yield last;
  }
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}
