import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { z } from "zod";
import type { Actor } from "@/server/platform/http/operation-context";

/**
 * Which roles may call which operation. The file is the only place where role names stand: deployments choose their own
 * (ER-APR-01, ER-APR-03). An operation that isn't listed may be called by nobody.
 */
const rulesFile = z.strictObject({
  operations: z.record(z.string().min(1).max(128), z.array(z.string().min(1).max(128)).max(100)),
  /** What goes beyond calling an operation, by names of ours ("getNotification:everyone"). */
  permissions: z.record(z.string().min(1).max(128), z.array(z.string().min(1).max(128)).max(100)).default({}),
});

export type EndpointRules = {
  mayCall(actor: Actor, operation: string): boolean;
  /** The same question about somebody else, by the roles they were last seen with. */
  rolesMayCall(roles: readonly string[], operation: string): boolean;
  /** What goes beyond a call, and whether a page should offer an operation by that name. */
  may(actor: Actor, permission: string): boolean;
  /** Every operation the file names, to compare with the registry. */
  readonly operations: ReadonlySet<string>;
};

/** Reads the rules. Throws when the file can't be read or has another shape: without rules nothing may be served. */
export function loadEndpointRules(path: string): EndpointRules {
  const parsed = rulesFile.safeParse(parse(readFileSync(/* turbopackIgnore: true */ path, "utf8")));
  if (!parsed.success)
    throw new Error("the endpoint rules file does not have the shape operations: { operation: [role, …] }");
  return endpointRules(parsed.data);
}

export function endpointRules(rules: z.output<typeof rulesFile>): EndpointRules {
  const operations = roleSets(rules.operations);
  const permissions = roleSets(rules.permissions);
  const rolesMayCall = (roles: readonly string[], operation: string) =>
    roles.some((role) => operations.get(operation)?.has(role) ?? false);
  return {
    mayCall: (actor, operation) => rolesMayCall(actor.roles, operation),
    rolesMayCall,
    may: (actor, permission) =>
      rolesMayCall(actor.roles, permission) || actor.roles.some((role) => permissions.get(permission)?.has(role)),
    operations: new Set(operations.keys()),
  };
}

function roleSets(rules: Readonly<Record<string, readonly string[]>>): Map<string, ReadonlySet<string>> {
  return new Map(Object.entries(rules).map(([name, roles]) => [name, new Set(roles)]));
}
