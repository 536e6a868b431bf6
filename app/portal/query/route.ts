import { runtime } from "@/server/operations/runtime";
import { handleOperation } from "@/server/platform/http/handle-operation";
import { legacyGetSurface, portalSurface } from "@/server/platform/http/portal-surface";

export const dynamic = "force-dynamic";

export const POST = (request: Request) => handleOperation(runtime().gateway, portalSurface("query"), request);

export const GET = (request: Request) => handleOperation(runtime().gateway, legacyGetSurface(), request);
