import { readFileSync, statSync } from "node:fs";
import { parse } from "yaml";
import { z } from "zod";
import type { Actor } from "@/server/platform/http/operation-context";
import { DEFAULT_LIMITS, RATE_CLASSES, type RateLimits } from "@/server/platform/http/rate-limit";
import { log } from "@/server/platform/log";

const roleLists = z.record(z.string().min(1).max(128), z.array(z.string().min(1).max(128)).max(100));
const rateLimit = z.strictObject({
  perSecond: z.number().min(0.001).max(1_000_000),
  burst: z.number().int().min(1).max(1_000_000),
});

/**
 * Which roles may call which operation. The file is the only place where role names stand: deployments choose their own
 * (ER-APR-01, ER-APR-03). An operation that isn't listed may be called by nobody.
 */
const rulesFile = z.strictObject({
  operations: roleLists,
  /** What goes beyond calling an operation, by names of ours ("getNotification:everyone"). */
  permissions: roleLists.default({}),
  /** Calls of one caller on one replica; what isn't named keeps its default. */
  limits: z.partialRecord(z.enum(RATE_CLASSES), rateLimit).default({}),
});

export type EndpointRules = {
  mayCall(actor: Actor, operation: string): boolean;
  /** The same question about somebody else, by the roles they were last seen with. */
  rolesMayCall(roles: readonly string[], operation: string): boolean;
  /** What goes beyond a call, and whether a page should offer an operation by that name. */
  may(actor: Actor, permission: string): boolean;
  /** Every operation the file names, to compare with the registry. */
  readonly operations: ReadonlySet<string>;
  readonly limits: RateLimits;
};

/** Reads the rules. Throws when the file can't be read or has another shape: without rules nothing may be served. */
export function loadEndpointRules(path: string): EndpointRules {
  const parsed = rulesFile.safeParse(parse(readFileSync(/* turbopackIgnore: true */ path, "utf8")));
  if (!parsed.success)
    throw new Error("the endpoint rules file does not have the shape operations: { operation: [role, …] }");
  return endpointRules(parsed.data);
}

export function endpointRules(rules: z.input<typeof rulesFile>): EndpointRules {
  const operations = roleSets(rules.operations);
  const permissions = roleSets(rules.permissions ?? {});
  const rolesMayCall = (roles: readonly string[], operation: string) =>
    roles.some((role) => operations.get(operation)?.has(role) ?? false);
  return {
    mayCall: (actor, operation) => rolesMayCall(actor.roles, operation),
    rolesMayCall,
    may: (actor, permission) =>
      rolesMayCall(actor.roles, permission) || actor.roles.some((role) => permissions.get(permission)?.has(role)),
    operations: new Set(operations.keys()),
    limits: { ...DEFAULT_LIMITS, ...rules.limits },
  };
}

function roleSets(rules: Readonly<Record<string, readonly string[]>>): Map<string, ReadonlySet<string>> {
  return new Map(Object.entries(rules).map(([name, roles]) => [name, new Set(roles)]));
}

/** CURRENT: as the file says now. LAST_GOOD: the file is broken or gone; what it said before still holds. */
export type RulesState = "CURRENT" | "LAST_GOOD";

export type WatchedRules = {
  /** The rules to judge this call by. */
  current(): EndpointRules;
  state(): RulesState;
};

/** The file's identity is looked at on access, at most this often; so a change counts for every call a second later. */
const LOOK_EVERY_MS = 1_000;

/**
 * The rules, read again when the file has changed: no restart, watcher or timer. A file that can't be read or has another shape
 * changes nothing: the last good rules stay in force, so that half a write neither widens nor takes away anything; that is
 * logged once a change and shown by readiness until the file is good again. Throws at the start, when there are none yet.
 * A removed permission refuses calls to come; what has been decided and what is running stays as it is (ER-APR-16).
 */
export function watchEndpointRules(path: string, nowMs: () => number = () => performance.now()): WatchedRules {
  let seen = identityOf(path);
  let lookedMs = nowMs();
  let rules = loadEndpointRules(path);
  let state: RulesState = "CURRENT";
  const look = () => {
    if (nowMs() - lookedMs < LOOK_EVERY_MS) return;
    lookedMs = nowMs();
    const identity = identityOf(path);
    if (identity === seen) return;
    seen = identity;
    try {
      rules = loadEndpointRules(path);
      state = "CURRENT";
      log.info("endpoint rules read again", { count: rules.operations.size });
    } catch {
      state = "LAST_GOOD";
      log.error("endpoint rules unusable, the last good ones stay", { setting: "ENDPOINT_RULES_FILE" });
    }
  };
  return {
    current() {
      look();
      return rules;
    },
    state() {
      look();
      return state;
    },
  };
}

/** Changes whenever the file is written, replaced (a mounted volume swaps a link) or gone. */
function identityOf(path: string): string {
  const stat = statSync(/* turbopackIgnore: true */ path, { throwIfNoEntry: false, bigint: true });
  return stat === undefined ? "none" : [stat.dev, stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join();
}
