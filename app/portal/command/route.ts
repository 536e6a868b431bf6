import { runtime } from "@/server/operations/runtime";
import { handleOperation } from "@/server/platform/http/handle-operation";
import { portalSurface } from "@/server/platform/http/portal-surface";

export const dynamic = "force-dynamic";

export const POST = (request: Request) => handleOperation(runtime().gateway, portalSurface("command"), request);
