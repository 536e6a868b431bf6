import { handleAppend } from "@/server/operations/append-route";
import { runtime } from "@/server/operations/runtime";

export const dynamic = "force-dynamic";

export const POST = (request: Request) => handleAppend(runtime(), request);
