import { encode } from "next-auth/jwt";
import type { Secrets } from "@/server/platform/config";
import { openSealed, type SessionContent } from "./session-seal";

/** next-auth's names; the first is used when the public URL is https. */
const COOKIE_NAMES = ["__Secure-next-auth.session-token", "next-auth.session-token"];

/** Access token inside the session cookie of a Cookie header, or null. A forged or expired cookie is no session. */
export async function readSessionToken(cookieHeader: string | null, secrets: Secrets): Promise<string | null> {
  const sealed = cookieHeader === null ? null : sessionCookie(parseCookies(cookieHeader));
  const content = sealed === null ? null : await openSealed(sealed, secrets);
  return typeof content?.accessToken === "string" ? content.accessToken : null;
}

/** Seals a session as next-auth does; for clients that sign in without a browser (tests). */
export async function sealSession(content: SessionContent, secret: string): Promise<string> {
  return `${COOKIE_NAMES[1]}=${await encode({ token: { ...content }, secret })}`;
}

/** next-auth splits a long cookie into `.0`, `.1`, … */
function sessionCookie(cookies: ReadonlyMap<string, string>): string | null {
  for (const name of COOKIE_NAMES) {
    const whole = cookies.get(name);
    if (whole) return whole;
    let joined = "";
    for (let part = 0; cookies.has(`${name}.${part}`); part++) joined += cookies.get(`${name}.${part}`);
    if (joined !== "") return joined;
  }
  return null;
}

export function parseCookies(header: string): Map<string, string> {
  const cookies = new Map<string, string>();
  for (const pair of header.split(";")) {
    const at = pair.indexOf("=");
    if (at > 0) cookies.set(pair.slice(0, at).trim(), pair.slice(at + 1).trim());
  }
  return cookies;
}
