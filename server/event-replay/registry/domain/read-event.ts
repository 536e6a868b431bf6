import type { FieldError } from "@/server/contracts/errors";
import { type JsonNode, parseExactJson } from "@/server/platform/json/exact-json";
import { type EventEnvelope, readEnvelope } from "./envelope";

export type EventReading =
  | { readonly ok: true; readonly envelope: EventEnvelope }
  | { readonly ok: false; readonly errors: readonly FieldError[] };

/** Text or bytes of one CloudEvent to its envelope; every refusal as field errors without values. `member` names it in them. */
export function readEvent(source: string | Buffer, member?: number): EventReading {
  const parsed = parseExactJson(source);
  if (parsed.ok) return readEventNode(parsed.value, member);
  return {
    ok: false,
    errors: [{ field: parsed.pointer, rule: parsed.rule, ...(member === undefined ? {} : { member }) }],
  };
}

/** The same for a node that is parsed already, e.g. an element of a posted array. */
export function readEventNode(node: JsonNode, member?: number): EventReading {
  const reading = readEnvelope(node);
  if (reading.ok) return reading;
  const errors = reading.violations.map((violation) => ({ ...violation, ...(member === undefined ? {} : { member }) }));
  return { ok: false, errors };
}
