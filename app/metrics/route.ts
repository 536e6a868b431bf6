import { runtime } from "@/server/operations/runtime";
import { scrapeMetrics } from "@/server/operations/scrape-metrics";

export const dynamic = "force-dynamic";

export async function GET(): Promise<Response> {
  const { contentType, body } = await scrapeMetrics(runtime().pool, runtime().consumerGroup);
  return new Response(body, { headers: { "content-type": contentType, "cache-control": "no-store" } });
}
