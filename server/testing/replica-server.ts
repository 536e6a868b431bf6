import http from "node:http";
import type { AddressInfo } from "node:net";
import { processEventReplay as processContract } from "@/server/contracts/replay";
import { executionOperations } from "@/server/event-replay/execution/operations";
import { processEventReplay } from "@/server/event-replay/execution/process-event-replay";
import { EXECUTION, type ExecutionSettings } from "@/server/event-replay/execution/settings";
import type { ProjectionDefinition } from "@/server/event-replay/projection/domain/types";
import type { ReplayContext } from "@/server/event-replay/replay-context";
import { callReplica, forwarder } from "@/server/operations/forward";
import { identifyRequest } from "@/server/platform/auth/identify";
import { loadConfig } from "@/server/platform/config";
import type { Pool } from "@/server/platform/db/pool";
import { handleOperation } from "@/server/platform/http/handle-operation";
import { bindOperation } from "@/server/platform/http/operation-context";
import { portalSurface } from "@/server/platform/http/portal-surface";

export const REPLICA_SECRET = "replica-secret-replica-secret-replica";

export type ReplicaOptions = {
  readonly pool: Pool;
  readonly projection: ProjectionDefinition;
  readonly role?: "all" | "command" | "query";
  readonly queryUrl?: string;
  readonly commandUrl?: string;
  readonly settings?: ExecutionSettings;
  /** Runs when all is committed and nobody has been told. */
  readonly afterProcess?: () => Promise<void>;
};

export type ReplicaServer = { readonly url: string; close(): Promise<void> };

/** The portal surface of one replica behind a real socket: gateway, identity, forwarding and execution as the product has them. */
export async function startReplica(options: ReplicaOptions): Promise<ReplicaServer> {
  const { pool, projection } = options;
  const settings = options.settings ?? EXECUTION;
  const server = http.createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const config = loadConfig({
    DATABASE_URL: "postgres://user@127.0.0.1/any",
    EVENT_ADMIN_DEMO: "1",
    NEXTAUTH_SECRET: REPLICA_SECRET,
    EVENT_ADMIN_ROLE: options.role ?? "all",
    QUERY_URL: options.queryUrl,
    COMMAND_URL: options.commandUrl,
    PORT: String(port),
  });
  const operations = [
    ...executionOperations.filter(({ contract }) => contract.name !== processContract.name),
    bindOperation(processContract, async (ctx: ReplayContext, request) => {
      const answer = await processEventReplay(ctx, request, settings);
      await options.afterProcess?.();
      return answer;
    }),
  ];
  const gateway = {
    operations: new Map(operations.map((operation) => [operation.contract.name, operation])),
    identify: (request: Request) => identifyRequest(request, config),
    mayCall: () => true,
    forward: forwarder(config),
    context: (actor: ReplayContext["actor"], requestId: string, request: Request): ReplayContext => ({
      pool,
      projection,
      actor,
      hostId: actor.hostId,
      requestId,
      may: () => true,
      rolesMayCall: () => true,
      callQuery: (operation, data) => callReplica(config, "query", operation, { data, request, requestId }),
    }),
  };
  server.on("request", async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const headers = new Headers(
      Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, String(value)]),
    );
    const request = new Request(`http://127.0.0.1:${port}${incoming.url}`, {
      method: "POST",
      headers,
      body: Buffer.concat(chunks),
    });
    const kind = incoming.url === "/portal/command" ? "command" : "query";
    const answer = await handleOperation(gateway, portalSurface(kind), request);
    outgoing.writeHead(answer.status, Object.fromEntries(answer.headers));
    outgoing.end(await answer.text());
  });
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
