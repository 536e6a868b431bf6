import { createHash, timingSafeEqual } from "node:crypto";
import type { Secrets } from "@/server/platform/config";
import { parseCookies } from "./session-cookie";

/** next-auth's names; the first is used when the public URL is https. */
const CSRF_COOKIES = ["__Host-next-auth.csrf-token", "next-auth.csrf-token"];

/**
 * The secret under which this browser's sign-in began, so that one under way ends well although a new secret came first
 * meanwhile: its form token and state cookies belong to one secret. The first secret for a browser that has begun nothing.
 */
export function secretOfSignIn(cookieHeader: string | null, secrets: Secrets): string {
  const cookies = parseCookies(cookieHeader ?? "");
  const given = CSRF_COOKIES.map((name) => cookies.get(name)).find((value) => value !== undefined);
  const [token, hash] = decodeURIComponentSafely(given ?? "").split("|");
  return (
    secrets.find((secret) => isEqual(createHash("sha256").update(`${token}${secret}`).digest("hex"), hash)) ??
    secrets[0]
  );
}

function isEqual(own: string, given: string | undefined): boolean {
  return given?.length === own.length && timingSafeEqual(Buffer.from(own), Buffer.from(given));
}

function decodeURIComponentSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
