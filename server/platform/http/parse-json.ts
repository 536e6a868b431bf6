import { AppError } from "@/server/platform/errors";
import { nodeToValue } from "@/server/platform/json/decode-data";
import { parseExactJson } from "@/server/platform/json/exact-json";

/**
 * Parses a request body: strict UTF-8 and JSON, no member named twice (two readers could take different ones), bounded depth,
 * nothing PostgreSQL couldn't hold; a number that JavaScript would round becomes an ExactNumber, which no request schema takes.
 * Throws INVALID_REQUEST naming the rule, never a piece of the input: not even a member name, which a caller may invent.
 */
export function parseJson(body: Buffer | string): unknown {
  const parsed = parseExactJson(body);
  if (!parsed.ok) throw new AppError("INVALID_REQUEST", { errors: [{ field: "", rule: parsed.rule }] });
  return nodeToValue(parsed.value);
}
