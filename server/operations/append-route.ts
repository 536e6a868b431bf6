import { APPEND_EVENTS, appendEventsResponse } from "@/server/contracts/append";
import { appendEvents, MAX_BODY_BYTES } from "@/server/event-replay/append/append-events";
import { AppError } from "@/server/platform/errors";
import { answer } from "@/server/platform/http/handle-operation";
import { readBody } from "@/server/platform/http/read-body";
import { ResponseMismatch } from "@/server/platform/http/refusal";
import { problem, requireJsonContent } from "@/server/platform/http/rest-surface";
import { forwardAppend } from "./forward";
import type { Runtime } from "./runtime";

/**
 * `POST /api/events`: identity and endpoint rule as for every operation, then the body's own bytes go to the append boundary,
 * which compares the events' host with the caller's before anything is looked up. A query replica passes them on.
 */
export function handleAppend({ gateway, config }: Runtime, request: Request): Promise<Response> {
  return answer(gateway, { label: "rest", refusal: problem }, request, async ({ requestId, identify, name }) => {
    name(APPEND_EVENTS);
    const actor = await identify();
    gateway.pace?.(actor, APPEND_EVENTS);
    if (!gateway.mayCall(actor, APPEND_EVENTS)) throw new AppError("AUTHORIZATION_DENIED");
    requireJsonContent(request);
    const body = await readBody(request, MAX_BODY_BYTES);
    const passedOn = await forwardAppend(config, "/api/events", { body, request, requestId });
    if (passedOn) return passedOn;
    const result = await appendEvents(gateway.context(actor, requestId, request), { hostId: actor.hostId, body });
    const answered = appendEventsResponse.safeParse(result);
    if (!answered.success) throw new ResponseMismatch();
    return Response.json(answered.data);
  });
}
