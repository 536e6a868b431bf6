import Ajv, { type ErrorObject } from "ajv";
import addFormats from "ajv-formats";
import { jsonPointer } from "@/server/platform/json/exact-json";
import { ExactNumber } from "@/server/platform/json/exact-number";
import type { DataValidator, DataViolation } from "./policy";

/**
 * The structural baseline: `data` is a JSON object, nothing more (ER-APP-39). A command's own field rules run before it and
 * aren't replaced by it; it can never carry a repair (ER-APP-41).
 */
export const PORTAL_OBJECT_V1: DataValidator = (data) =>
  isJsonObject(data) ? [] : [{ field: "", rule: "DATA_NOT_AN_OBJECT" }];

/** A JSON object as the shared decoder returns it: no array, no scalar, no exact number. */
export function isJsonObject(data: unknown): data is Readonly<Record<string, unknown>> {
  return typeof data === "object" && data !== null && !Array.isArray(data) && !(data instanceof ExactNumber);
}

/**
 * A validator from a JSON schema (draft-07), compiled once at module load. Violations hold a pointer below /data and the
 * broken keyword in UPPER_SNAKE: never a value, never a message of ajv, which may quote one. Throws on an invalid schema.
 */
export function jsonSchemaValidator(schema: Readonly<Record<string, unknown>>): DataValidator {
  const ajv = new Ajv({ allErrors: true, strict: true, strictTypes: false, verbose: false });
  addFormats.default(ajv);
  const validate = ajv.compile(schema);
  return (data) => (validate(data) ? [] : (validate.errors ?? []).map(violationOf));
}

function violationOf(error: ErrorObject): DataViolation {
  const rule = error.keyword.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
  if (error.keyword === "required") {
    return { field: error.instancePath + jsonPointer([String(error.params.missingProperty)]), rule: "REQUIRED" };
  }
  if (error.keyword === "additionalProperties") {
    return { field: error.instancePath + jsonPointer([String(error.params.additionalProperty)]), rule };
  }
  return { field: error.instancePath, rule };
}
