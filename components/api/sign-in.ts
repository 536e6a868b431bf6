/**
 * Signing in and out through the session routes. Kept apart from the operations: these routes speak forms and a CSRF
 * token of their own, which is read first and sent with each request.
 */
const FORM = { "content-type": "application/x-www-form-urlencoded" };

async function csrfToken(): Promise<string> {
  const response = await fetch("/api/auth/csrf", { cache: "no-store" });
  const body = (await response.json()) as { csrfToken?: string };
  return body.csrfToken ?? "";
}

async function post(
  path: string,
  fields: Record<string, string>,
): Promise<{ ok: boolean; status: number; url: string | undefined }> {
  const csrf = await csrfToken();
  const response = await fetch(path, {
    method: "POST",
    headers: FORM,
    body: new URLSearchParams({ ...fields, csrfToken: csrf, json: "true" }),
  });
  const body = (await response.json().catch(() => ({}))) as { url?: string };
  return { ok: response.ok, status: response.status, url: body.url };
}

export type SignInResult = "ok" | "refused" | "wait" | "unreachable";

/** Name and password of a demo identity. "refused" says only that the pair is wrong, never which half; "wait" that there were too many attempts. */
export async function signInWithPassword(username: string, password: string): Promise<SignInResult> {
  try {
    const answer = await post("/api/auth/callback/credentials", { username, password, callbackUrl: "/" });
    if (answer.status === 429) return "wait";
    const error = answer.url ? new URL(answer.url, location.origin).searchParams.get("error") : null;
    if (error !== null && error !== "CredentialsSignin") return "unreachable";
    if (answer.status === 401 || error !== null) return "refused";
    return answer.ok ? "ok" : "unreachable";
  } catch {
    return "unreachable";
  }
}

/** Starts sign-in at the organisation's identity provider; the address to go to, or null when it can't be reached. */
export async function startOrganisationSignIn(callbackUrl: string): Promise<string | null> {
  try {
    const answer = await post("/api/auth/signin/oidc", { callbackUrl });
    return answer.ok ? (answer.url ?? null) : null;
  } catch {
    return null;
  }
}

/** Ends the session of this browser. */
export async function signOut(): Promise<void> {
  await post("/api/auth/signout", { callbackUrl: "/sign-in" }).catch(() => undefined);
}
