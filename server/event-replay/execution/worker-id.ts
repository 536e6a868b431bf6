import { newId } from "@/server/platform/ids";

const SERVICE = "event-admin-query";

/** Route bundles may hold several copies of this module; the process has one identity. */
const holder = globalThis as typeof globalThis & { eventAdminProcessInstance?: string };

/**
 * Who executes: service identity and an id that this process drew at its first use. Not configurable, so no two processes
 * ever share it (ER-ISO-24).
 */
export function workerId(): string {
  holder.eventAdminProcessInstance ??= newId();
  return `${SERVICE}:${holder.eventAdminProcessInstance}`;
}
