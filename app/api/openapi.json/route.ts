import { openApiDocument } from "@/server/operations/openapi";
import { runtime } from "@/server/operations/runtime";

export const dynamic = "force-dynamic";

export const GET = () => Response.json(openApiDocument(runtime().config.demo));
