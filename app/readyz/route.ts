import { readiness } from "@/server/operations/readiness";
import { runtime } from "@/server/operations/runtime";

export const dynamic = "force-dynamic";

/** 200 when this replica can serve, 503 when it can't. Ids and values have no place here: it needs no identity. */
export async function GET(): Promise<Response> {
  const state = await readiness(runtime());
  return Response.json(state, { status: state.status === "UP" ? 200 : 503, headers: { "cache-control": "no-store" } });
}
