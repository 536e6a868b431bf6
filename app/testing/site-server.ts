import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll } from "vitest";
import { POST as postRest } from "@/app/api/event-replay/[operation]/route";
import { POST as postCommand } from "@/app/portal/command/route";
import { POST as postQuery } from "@/app/portal/query/route";

/**
 * The routes behind a real socket, so that a command finds the query side at this process's own address as in the product. Call
 * after `testSite()` and before anything builds the runtime.
 */
export function siteServer(): void {
  const server = http.createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const url = `http://127.0.0.1:${process.env.PORT}${incoming.url}`;
    const headers = new Headers(
      Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, String(value)]),
    );
    const request = new Request(url, { method: "POST", headers, body: Buffer.concat(chunks) });
    const answer = await route(incoming.url ?? "", request);
    outgoing.writeHead(answer.status, Object.fromEntries(answer.headers));
    outgoing.end(await answer.text());
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    process.env.PORT = String((server.address() as AddressInfo).port);
  });
  afterAll(async () => {
    delete process.env.PORT;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
}

function route(path: string, request: Request): Promise<Response> {
  if (path === "/portal/query") return postQuery(request);
  if (path === "/portal/command") return postCommand(request);
  return postRest(request, { params: Promise.resolve({ operation: path.split("/").at(-1) ?? "" }) });
}
