import path from "node:path";
import { readInstance } from "@/server/cli/supervisor/instance-file.mjs";

export type Instance = {
  readonly databaseUrl: string;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly demo: boolean;
  /** Key material of sessions and demo tokens; null when neither the instance nor the environment gives it. */
  readonly secret: string | null;
};

/** No instance to talk to; `message` says what to do. */
export class InstanceNotFound extends Error {
  constructor(dataDir: string) {
    super(
      `Event Admin does not run with the data folder ${dataDir}. Start it (npm start), or set EVENT_ADMIN_DATA or DATABASE_URL.`,
    );
    this.name = "InstanceNotFound";
  }
}

/**
 * The instance a script works on: the one of DATABASE_URL when that is set (a deployment, or a process the supervisor itself
 * started), else the running one of EVENT_ADMIN_DATA (default .data). Throws InstanceNotFound.
 */
export function findInstance(env: Readonly<Record<string, string | undefined>> = process.env): Instance {
  const dataDir = path.resolve(env.EVENT_ADMIN_DATA || ".data");
  const found = readInstance(dataDir);
  if (env.DATABASE_URL && found?.databaseUrl !== env.DATABASE_URL) {
    return {
      databaseUrl: env.DATABASE_URL,
      baseUrl: (env.NEXTAUTH_URL || `http://127.0.0.1:${env.PORT || 3000}`).replace(/\/$/, ""),
      demo: env.EVENT_ADMIN_DEMO === "1",
      secret: env.NEXTAUTH_SECRET || null,
    };
  }
  if (found === null) throw new InstanceNotFound(dataDir);
  return {
    databaseUrl: found.databaseUrl,
    baseUrl: found.baseUrl.replace(/\/$/, ""),
    demo: found.demo,
    secret: found.secret,
  };
}
