import type { TypedEvent } from "./typed-event";
import { userUpdated } from "./user-updated/policy";

/** The typed events of the portal. A new one is its folder and one line here. */
export const TYPED_EVENTS: readonly TypedEvent[] = [userUpdated];
