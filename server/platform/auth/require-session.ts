import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { cache } from "react";
import { loadConfig } from "@/server/platform/config";
import type { Actor } from "@/server/platform/http/operation-context";
import { actorOfCookies } from "./identify";

/** Request header in which proxy.ts hands the page's own path and query to server components. */
export const PATH_HEADER = "x-event-admin-path";

/** The signed-in person of the page being rendered, or null. Verified once a request. */
export const sessionActor = cache(async (): Promise<Actor | null> => {
  const incoming = await headers();
  return actorOfCookies(incoming.get("cookie"), loadConfig());
});

/** As `sessionActor`; nobody signed in → redirect to /sign-in, which comes back to this page. For layouts and pages. */
export async function requireSession(): Promise<Actor> {
  const actor = await sessionActor();
  if (actor !== null) return actor;
  const path = (await headers()).get(PATH_HEADER) ?? "/";
  redirect(`/sign-in?callbackUrl=${encodeURIComponent(path)}`);
}
