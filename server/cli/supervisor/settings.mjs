import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { StartError } from "./start-error.mjs";

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]", "::1"]);

/**
 * What the environment asks for. Refuses what can't work before anything is installed, built or started: demo mode with a
 * database elsewhere, neither demo mode nor an identity provider, a port that is no port.
 * @param {string} root
 * @param {NodeJS.ProcessEnv} env
 */
export function readSettings(root, env) {
  const databaseUrl = env.DATABASE_URL || null;
  const demo = databaseUrl === null ? env.EVENT_ADMIN_DEMO !== "0" : env.EVENT_ADMIN_DEMO === "1";
  if (databaseUrl !== null && !URL.canParse(databaseUrl)) {
    throw new StartError("DATABASE_URL is not a URL of the form postgres://user@host:port/database.");
  }
  if (demo && databaseUrl !== null && !isLoopbackUrl(databaseUrl)) {
    throw new StartError("EVENT_ADMIN_DEMO=1 needs a database on this machine (a loopback address in DATABASE_URL).");
  }
  if (!demo && !env.OIDC_ISSUER) {
    throw new StartError(
      "No identity provider is configured and demo mode is off, so nobody could sign in.\n" +
        "Set OIDC_ISSUER and its client, or EVENT_ADMIN_DEMO=1 with a database on this machine.",
    );
  }
  const host = env.HOST || "127.0.0.1";
  if (demo && !LOOPBACK.has(host)) {
    throw new StartError("Demo mode listens on this machine only (its passwords are no secret): unset HOST.");
  }
  const port = Number(env.PORT || 3000);
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new StartError("PORT must be a number from 1 to 65535.");
  return {
    databaseUrl,
    demo,
    host,
    port,
    baseUrl: env.NEXTAUTH_URL || `http://${host === "0.0.0.0" ? "127.0.0.1" : host}:${port}`,
    dataDir: path.resolve(root, env.EVENT_ADMIN_DATA || ".data"),
  };
}

/** Whether a database URL points at this machine. */
export function isLoopbackUrl(url) {
  return LOOPBACK.has(new URL(url).hostname);
}

/**
 * The key material of this data folder: made once, stored with mode 0600, so that sessions outlive a restart. One from the
 * environment wins and is not stored.
 */
export function readSecret(dataDir, env) {
  if (env.NEXTAUTH_SECRET) return env.NEXTAUTH_SECRET;
  const file = path.join(dataDir, "secrets.json");
  if (!fs.existsSync(file)) {
    const aside = `${file}.${process.pid}`;
    fs.writeFileSync(aside, JSON.stringify({ nextAuthSecret: randomBytes(48).toString("base64url") }), { mode: 0o600 });
    fs.renameSync(aside, file);
  }
  return JSON.parse(fs.readFileSync(file, "utf8")).nextAuthSecret;
}

/** Makes the data folder, or says why it can't be used. */
export function ensureDataDir(dataDir) {
  try {
    fs.mkdirSync(path.join(dataDir, "logs"), { recursive: true });
    fs.accessSync(dataDir, fs.constants.W_OK);
  } catch (error) {
    throw new StartError(
      `Cannot write to the data folder ${dataDir} (${error.code}). Set EVENT_ADMIN_DATA to another one.`,
    );
  }
}
