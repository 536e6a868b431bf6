import { z } from "zod";
import type { FieldError } from "@/server/contracts/errors";

/** A refusal never grows with the input. */
export const MAX_FIELD_ERRORS = 50;
const MAX_POINTER = 256;

/**
 * Issues of a request schema → our field errors: a JSON pointer and one of our rule names. Values never appear, and of names
 * only those that the schema itself declares: a name that the caller invented shows as `*` (ER-PAY-17).
 */
export function fieldErrors(error: z.ZodError, schema: z.ZodType, input: unknown): FieldError[] {
  const known = declaredNames(schema);
  return error.issues.slice(0, MAX_FIELD_ERRORS).map((issue) => ({
    field: pointer(issue.path, known),
    rule: isAbsent(input, issue.path) ? "REQUIRED" : ruleOf(issue),
    ...(issue.code === "unrecognized_keys" ? { message: `${issue.keys.length} member(s) are not known here.` } : {}),
  }));
}

function pointer(path: readonly PropertyKey[], known: ReadonlySet<string>): string {
  const text = path
    .map((part) => `/${typeof part === "number" || known.has(String(part)) ? String(part) : "*"}`)
    .join("");
  return text.slice(0, MAX_POINTER);
}

/** A schema says only that `undefined` doesn't fit; whoever reads the refusal wants to know that the member is missing. */
function isAbsent(input: unknown, path: readonly PropertyKey[]): boolean {
  let at = input;
  for (const part of path) {
    if (at === null || typeof at !== "object") return false;
    at = (at as Record<PropertyKey, unknown>)[part];
  }
  return path.length > 0 && at === undefined;
}

function ruleOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return "WRONG_TYPE";
    case "too_big":
      return issue.origin === "number" || issue.origin === "int" ? "TOO_LARGE" : "TOO_LONG";
    case "too_small":
      return issue.origin === "number" || issue.origin === "int" ? "TOO_SMALL" : "TOO_SHORT";
    case "invalid_format":
      return "WRONG_FORMAT";
    case "unrecognized_keys":
      return "UNKNOWN_MEMBER";
    case "invalid_value":
      return "NOT_ALLOWED";
    case "invalid_union":
      return "NO_FORM_FITS";
    case "custom":
      return typeof issue.params?.rule === "string" ? issue.params.rule : "NOT_ALLOWED";
    default:
      return "NOT_VALID";
  }
}

const namesBySchema = new WeakMap<z.ZodType, ReadonlySet<string>>();

function declaredNames(schema: z.ZodType): ReadonlySet<string> {
  const cached = namesBySchema.get(schema);
  if (cached) return cached;
  const names = new Set<string>();
  collect(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }), names);
  namesBySchema.set(schema, names);
  return names;
}

function collect(node: unknown, names: Set<string>): void {
  if (Array.isArray(node)) {
    for (const element of node) collect(element, names);
  } else if (node !== null && typeof node === "object") {
    const { properties } = node as { properties?: object };
    if (properties) for (const name of Object.keys(properties)) names.add(name);
    for (const child of Object.values(node)) collect(child, names);
  }
}
