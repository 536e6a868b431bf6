import type { NextAuthOptions } from "next-auth";
import type { ReplayContext } from "@/server/event-replay/replay-context";
import { RefusalRecorder } from "@/server/governance/refusals";
import { authOptions } from "@/server/platform/auth/auth-options";
import { actorOfToken, identifyRequest } from "@/server/platform/auth/identify";
import { type Config, loadConfig } from "@/server/platform/config";
import { warnOfRights } from "@/server/platform/db/database-role";
import { createPool, type Pool } from "@/server/platform/db/pool";
import { guardConsole, guardCrashes } from "@/server/platform/guard-output";
import type { Gateway } from "@/server/platform/http/handle-operation";
import { RateLimiter } from "@/server/platform/http/rate-limit";
import { withDemoDefect } from "@/server/portal/demo/defect";
import { DEMO_IDENTITIES } from "@/server/portal/demo/identities";
import { portalProjection } from "@/server/portal/portal-projection";
import { type WatchedRules, watchEndpointRules } from "./endpoint-rules";
import { callReplica, forwarder } from "./forward";
import { rateClassOf } from "./rate-class";
import { recordSignIn, recordSignOut } from "./record-sign-in";
import { operations } from "./registry";

/** What this web process is made of. */
export type Runtime = {
  readonly config: Config;
  readonly pool: Pool;
  readonly gateway: Gateway<ReplayContext>;
  readonly authOptions: NextAuthOptions;
  readonly consumerGroup: string;
  readonly rules: WatchedRules;
  readonly limiter: RateLimiter;
};

/** Development reloads modules and route bundles may hold several copies of one; the process has one pool. */
const holder = globalThis as typeof globalThis & { eventAdminRuntime?: Runtime };

/** The composition root of the web process, built on first use. Throws ConfigError when the environment is unusable. */
export function runtime(): Runtime {
  holder.eventAdminRuntime ??= build(loadConfig());
  return holder.eventAdminRuntime;
}

/** Ends the pool; the next `runtime()` reads the environment again. */
export async function closeRuntime(): Promise<void> {
  const current = holder.eventAdminRuntime;
  holder.eventAdminRuntime = undefined;
  await current?.pool.end();
}

function build(config: Config): Runtime {
  const pool = createPool(config.databaseUrl, { name: "web", max: 20 });
  if (process.env.NODE_ENV === "production") {
    guardConsole();
    guardCrashes({ exit: false });
  }
  void warnOfRights(pool, config.demo);
  const rules = watchEndpointRules(config.endpointRulesFile);
  const limiter = new RateLimiter(() => rules.current().limits);
  const refusals = new RefusalRecorder(pool);
  const projection = config.demo ? withDemoDefect(portalProjection()) : portalProjection();
  // Without a public URL next-auth takes its own address from the request: then any port works.
  if (config.publicUrl === null) process.env.AUTH_TRUST_HOST ??= "1";
  return {
    config,
    pool,
    consumerGroup: projection.consumerGroup,
    rules,
    limiter,
    gateway: {
      operations: operations(config.demo),
      identify: (request) => identifyRequest(request, config),
      mayCall: (actor, operation) => rules.current().mayCall(actor, operation),
      pace: (actor, operation) => limiter.take(rateClassOf(operation), `${actor.hostId} ${actor.personId}`),
      paceUnknown: (address) => limiter.take("anonymous", address),
      refused: (actor, call) => refusals.record(actor, call),
      forward: forwarder(config),
      context: (actor, requestId, request) => ({
        pool,
        projection,
        actor,
        hostId: actor.hostId,
        requestId,
        may: (permission) => rules.current().may(actor, permission),
        rolesMayCall: (roles, operation) => rules.current().rolesMayCall(roles, operation),
        callQuery: (operation, data) => callReplica(config, "query", operation, { data, request, requestId }),
      }),
    },
    authOptions: authOptions({
      secrets: config.secrets,
      demoIdentities: config.demo ? DEMO_IDENTITIES : [],
      oidc: config.oidc,
      onSignIn: (actor) => recordSignIn(pool, actor),
      onSignOut: async (accessToken) => recordSignOut(pool, await actorOfToken(accessToken, config)),
    }),
  };
}
