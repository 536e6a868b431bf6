import { ConfigError } from "./config-error";
import { type OidcConfig, readOidc } from "./config-oidc";

/** `command` and `query` are replicas of their own; `all` answers everything. */
export type ReplicaRole = "all" | "command" | "query";
export type EventSource = "database" | "kafka";
export type Secrets = readonly [string, ...string[]];

/** Everything the environment may say. There is no other setting; limits, leases and sizes are code (ER-CFG-16, -17). */
export type Config = {
  readonly databaseUrl: string;
  /** Demo identities, demo buttons and tokens. Only ever with a database on this machine. */
  readonly demo: boolean;
  /** Key material of sessions and demo tokens, at least 32 characters each: the first seals and signs, all of them open. */
  readonly secrets: Secrets;
  /** Public URL when the deployment names one; otherwise the request's own host counts. */
  readonly publicUrl: string | null;
  readonly eventSource: EventSource;
  /** Relative to the working directory, which is the repository's root. */
  readonly endpointRulesFile: string;
  /** Set when an identity provider is configured. */
  readonly oidc: OidcConfig | null;
  /** Which operations this replica answers itself; the others it passes on. */
  readonly role: ReplicaRole;
  /** Where queries are answered, when it isn't here. Never taken from a request. */
  readonly queryUrl: string | null;
  readonly commandUrl: string | null;
  /** This process's own address on this machine. */
  readonly loopbackUrl: string;
};

const LOOPBACK = new Set(["localhost", "127.0.0.1", "::1", "[::1]"]);
const MIN_SECRET_LENGTH = 32;

/**
 * Reads and checks the environment once at start. Throws ConfigError when the server must not run: no database, no secret,
 * demo mode with a database elsewhere, or neither demo mode nor an identity provider (design §4).
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>> = process.env): Config {
  const databaseUrl = required(env, "DATABASE_URL", "name the PostgreSQL database, or use npm start, which brings one");
  const demo = readDemo(env, databaseUrl);
  const oidc = readOidc(env);
  if (!demo && oidc === null) {
    throw new ConfigError(
      "OIDC_ISSUER",
      "No identity provider is configured and demo mode is off, so nobody could sign in. Set OIDC_ISSUER and its client, " +
        "or EVENT_ADMIN_DEMO=1 with a database on this machine.",
    );
  }
  return {
    databaseUrl,
    demo,
    secrets: readSecrets(env.NEXTAUTH_SECRET),
    publicUrl: env.NEXTAUTH_URL || null,
    eventSource: readEventSource(env),
    endpointRulesFile: env.ENDPOINT_RULES_FILE || "server/operations/endpoint-rules.demo.yml",
    oidc,
    ...readReplica(env),
  };
}

/**
 * NEXTAUTH_SECRET: one secret, or several apart by space or comma while keys rotate. Throws ConfigError for none or a short one,
 * since a guessable key lets anybody seal a session.
 */
export function readSecrets(setting: string | undefined): Secrets {
  const [first, ...others] = (setting ?? "").split(/[\s,]+/).filter((secret) => secret !== "");
  if (first === undefined) {
    throw new ConfigError(
      "NEXTAUTH_SECRET",
      `NEXTAUTH_SECRET is not set: set a random text of at least ${MIN_SECRET_LENGTH} characters, the same on every replica.`,
    );
  }
  if ([first, ...others].some((secret) => secret.length < MIN_SECRET_LENGTH)) {
    throw new ConfigError("NEXTAUTH_SECRET", `NEXTAUTH_SECRET must have at least ${MIN_SECRET_LENGTH} characters.`);
  }
  return [first, ...others];
}

function readReplica(
  env: Readonly<Record<string, string | undefined>>,
): Pick<Config, "role" | "queryUrl" | "commandUrl" | "loopbackUrl"> {
  const role = env.EVENT_ADMIN_ROLE || "all";
  if (role !== "all" && role !== "command" && role !== "query") {
    throw new ConfigError("EVENT_ADMIN_ROLE", "EVENT_ADMIN_ROLE is all, command or query.");
  }
  const queryUrl = readUrl(env, "QUERY_URL");
  const commandUrl = readUrl(env, "COMMAND_URL");
  if (role === "command" && queryUrl === null) {
    throw new ConfigError("QUERY_URL", "QUERY_URL is not set: a command replica passes queries on to it.");
  }
  if (role === "query" && commandUrl === null) {
    throw new ConfigError("COMMAND_URL", "COMMAND_URL is not set: a query replica passes commands on to it.");
  }
  const host = env.HOST && !["0.0.0.0", "::", "localhost"].includes(env.HOST) ? env.HOST : "127.0.0.1";
  const loopbackUrl = `http://${host.includes(":") ? `[${host}]` : host}:${env.PORT || "3000"}`;
  return { role, queryUrl, commandUrl, loopbackUrl };
}

function readUrl(env: Readonly<Record<string, string | undefined>>, setting: string): string | null {
  const value = env[setting];
  if (!value) return null;
  if (/^https?:\/\/[^/?#]+\/?$/.test(value) && URL.canParse(value)) return value;
  throw new ConfigError(setting, `${setting} is an address of the form http://host:port.`);
}

/** What a live processor needs: no secret, no identity provider, since nobody signs in to it. Throws ConfigError. */
export function readProcessorConfig(
  env: Readonly<Record<string, string | undefined>>,
): Pick<Config, "databaseUrl" | "demo" | "eventSource"> & { readonly metricsPort: number | null } {
  const databaseUrl = required(env, "DATABASE_URL", "name the PostgreSQL database, or use npm start, which brings one");
  return {
    databaseUrl,
    demo: readDemo(env, databaseUrl),
    eventSource: readEventSource(env),
    metricsPort: readMetricsPort(env),
  };
}

function readMetricsPort(env: Readonly<Record<string, string | undefined>>): number | null {
  if (!env.METRICS_PORT) return null;
  const port = Number(env.METRICS_PORT);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new ConfigError("METRICS_PORT", "METRICS_PORT is a port number from 1 to 65535.");
  }
  return port;
}

function readDemo(env: Readonly<Record<string, string | undefined>>, databaseUrl: string): boolean {
  const demo = env.EVENT_ADMIN_DEMO === "1";
  if (demo && !isLoopback(databaseUrl)) {
    throw new ConfigError("EVENT_ADMIN_DEMO", "Demo mode needs a database on this machine (a loopback address).");
  }
  return demo;
}

function readEventSource(env: Readonly<Record<string, string | undefined>>): EventSource {
  const eventSource = env.EVENT_SOURCE || "database";
  if (eventSource !== "database" && eventSource !== "kafka") {
    throw new ConfigError("EVENT_SOURCE", "EVENT_SOURCE is either database or kafka.");
  }
  return eventSource;
}

function required(env: Readonly<Record<string, string | undefined>>, setting: string, advice: string): string {
  const value = env[setting];
  if (!value) throw new ConfigError(setting, `${setting} is not set: ${advice}.`);
  return value;
}

function isLoopback(databaseUrl: string): boolean {
  try {
    return LOOPBACK.has(new URL(databaseUrl).hostname);
  } catch {
    throw new ConfigError("DATABASE_URL", "DATABASE_URL is not a URL of the form postgres://user@host:port/database.");
  }
}
