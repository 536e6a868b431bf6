import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { startScrapeServer } from "./scrape-server";

test("a process without a web server answers liveness and metrics on this machine, and nothing else", async () => {
  const server = await startScrapeServer(0);
  const { address, port } = server.address() as AddressInfo;
  try {
    expect(address).toBe("127.0.0.1");
    const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
    expect((await get("/healthz")).status).toBe(200);
    expect(await (await get("/metrics")).text()).toContain("event_admin_lock_order_violations_total 0");
    expect((await get("/anything")).status).toBe(404);
  } finally {
    server.close();
  }
});
