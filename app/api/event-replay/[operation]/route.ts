import { runtime } from "@/server/operations/runtime";
import { handleOperation } from "@/server/platform/http/handle-operation";
import { restSurface } from "@/server/platform/http/rest-surface";

export const dynamic = "force-dynamic";

export async function POST(request: Request, context: { params: Promise<{ operation: string }> }): Promise<Response> {
  const { operation } = await context.params;
  return handleOperation(runtime().gateway, restSurface(operation), request);
}
