import { createServer, type Server } from "node:http";
import { metrics } from "@/server/platform/metrics";

/**
 * GET /healthz and GET /metrics of a process without a web server, on 127.0.0.1, for a scraper on the same machine or pod.
 * Everything else is 404. Resolves when it listens; rejects when the port is taken.
 */
export async function startScrapeServer(port: number): Promise<Server> {
  const server = createServer(async (request, response) => {
    if (request.method === "GET" && request.url === "/healthz") {
      response.writeHead(200, { "content-type": "application/json" }).end('{"status":"UP"}');
    } else if (request.method === "GET" && request.url === "/metrics") {
      response.writeHead(200, { "content-type": metrics.contentType }).end(await metrics.metrics());
    } else {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return server;
}
