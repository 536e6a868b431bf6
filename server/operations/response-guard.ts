import { z } from "zod";
import type { OperationContract } from "@/server/contracts/operation";

/**
 * Names under which a payload, key, header, storage reference or changed value could leave. Compared without case, hyphen and
 * underscore; a name that merely contains one of them as a word of its own ("payloadDigest") is judged by ENDINGS.
 */
const NAMES = new Set(
  `payload payloads payloadplain correctedpayload eventpayload eventbytes bytes body raw rawevent eventjson json data content
   header headers sourceheaders key kafkakey sourcekey recordkey messagekey value values changedvalue changedvalues newvalue oldvalue
   before after beforevalue aftervalue original corrected exception stack stacktrace sql query objecturi storageuri storagereference
   uri password secret token accesstoken`
    .trim()
    .split(/\s+/),
);
const ENDINGS = /(payload|eventbytes|eventjson|headers|objecturi|wrappedkey|ciphertext|rawvalue|fieldvalue)$/;

/** The end of a path to a member that bears such a name and holds something else: the key of a cause is code, SQLSTATE and constraint. */
const ALLOWED = /(\.cause|\.causes)\.key$/;

/** The one text without a bound, and why: the export is the audit itself, bounded by its number of records. */
const UNBOUNDED = new Set(["exportAuditEvent.file"]);

/** Bound by their pattern rather than by a length. */
const FIXED_PATTERN = /^\^.*\{\d+(,\d+)?\}.*\$$|^\^\(?:?sha256:/;

type Node = Readonly<Record<string, unknown>>;

/**
 * Every reason why this answer could carry a payload-like member (ER-PAY-10): a member by such a name that isn't null for ever, a
 * text without a bound, an object that admits members it doesn't name, a value of any kind. Empty = it can't.
 */
export function responseProblems({ name, response }: Pick<OperationContract, "name" | "response">): string[] {
  const problems = new Set<string>();
  const schema = z.toJSONSchema(response, { io: "output", unrepresentable: "any" }) as Node;
  const seen = new Set<unknown>();
  walk(schema, name);
  return [...problems];

  function walk(node: unknown, at: string): void {
    if (Array.isArray(node)) {
      for (const each of node) walk(each, at);
      return;
    }
    if (node === null || typeof node !== "object") {
      if (node === true) problems.add(`${at} admits anything`);
      return;
    }
    const { $ref, properties, items, anyOf, oneOf, allOf, prefixItems } = node as Node;
    if (typeof $ref === "string" && $ref.startsWith("#/$defs/")) {
      if (!seen.has($ref)) {
        seen.add($ref);
        walk(((schema.$defs ?? {}) as Node)[$ref.slice("#/$defs/".length)], at);
      }
      return;
    }
    if (Object.keys(node).every((word) => ["description", "title", "$schema"].includes(word))) {
      problems.add(`${at} admits anything`);
    }
    for (const [member, schemaOf] of Object.entries((properties ?? {}) as Node)) {
      const path = `${at}.${member}`;
      if (isTelling(member) && !isNull(schemaOf) && !holdsNoText(schemaOf) && !ALLOWED.test(path)) {
        problems.add(`${path} is named like what never leaves`);
      }
      walk(schemaOf, path);
    }
    checkOpen(node as Node, at);
    checkText(node as Node, at);
    for (const part of [items, anyOf, oneOf, allOf, prefixItems]) if (part !== undefined) walk(part, at);
  }

  function checkOpen(node: Node, at: string): void {
    if (node.type === "object" && node.additionalProperties !== false)
      problems.add(`${at} admits members it doesn't name`);
  }

  function checkText(node: Node, at: string): void {
    if (node.type !== "string" || node.enum !== undefined || node.const !== undefined) return;
    const bounded = typeof node.maxLength === "number" || node.format === "date-time" || isFixed(node.pattern);
    if (!bounded && !UNBOUNDED.has(at)) problems.add(`${at} is a text without a bound`);
  }
}

function isTelling(member: string): boolean {
  const plain = member.toLowerCase().replaceAll(/[-_]/g, "");
  return NAMES.has(plain) || ENDINGS.test(plain);
}

const isNull = (node: unknown) => (node as Node).type === "null" || (node as Node).const === null;

/** Numbers, flags and our own words say nothing of an event's values. */
function holdsNoText(node: unknown): boolean {
  const { type, anyOf, enum: words } = node as { type?: string; anyOf?: unknown[]; enum?: unknown };
  if (anyOf) return anyOf.every((each) => isNull(each) || holdsNoText(each));
  return type === "boolean" || type === "integer" || type === "number" || (type === "string" && words !== undefined);
}

const isFixed = (pattern: unknown) => typeof pattern === "string" && FIXED_PATTERN.test(pattern);
