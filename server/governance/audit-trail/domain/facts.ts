import { type AuditFactName, auditFactName } from "@/server/contracts/audit";
import { isCanonicalUuid } from "@/server/platform/ids";

const MAX_TEXT = 255;

/** Where the stored name says less than it should on a page. */
const RENAMED: Readonly<Record<string, AuditFactName>> = { reason: "cause" };

/**
 * What of a record's details may be shown: names of the closed list with a short text, number or flag. Anything else a record
 * might hold stays where it is.
 */
export function factsOf(details: Readonly<Record<string, unknown>>): { name: AuditFactName; text: string }[] {
  const facts: { name: AuditFactName; text: string }[] = [];
  for (const [stored, value] of Object.entries(details)) {
    const name = auditFactName.safeParse(RENAMED[stored] ?? stored);
    if (!name.success || !["string", "number", "boolean"].includes(typeof value)) continue;
    facts.push({ name: name.data, text: String(value).slice(0, MAX_TEXT) });
  }
  return facts;
}

/** Failures that a record names together. */
export function failureIdsOf(details: Readonly<Record<string, unknown>>): string[] {
  const ids = details.failureIds;
  return Array.isArray(ids) ? ids.filter((id) => isCanonicalUuid(id)).slice(0, 500) : [];
}
