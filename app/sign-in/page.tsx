import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { SignInForm } from "@/components/sign-in/sign-in-form";
import { Mark } from "@/components/ui/icon";
import { sessionActor } from "@/server/platform/auth/require-session";
import { signInProblemText } from "@/server/platform/auth/sign-in-problem";
import { loadConfig } from "@/server/platform/config";

export const metadata: Metadata = { title: "Sign in" };

/** Only a path of this site: an address elsewhere, or one that a browser would read as one, becomes the overview. */
function ownPath(given: string | string[] | undefined): string {
  if (typeof given !== "string") return "/";
  try {
    const url = new URL(given, "http://own.invalid");
    const path = `${url.pathname}${url.search}`;
    return url.origin === "http://own.invalid" && !path.startsWith("//") ? path : "/";
  } catch {
    return "/";
  }
}

export default async function SignInPage({
  searchParams,
}: {
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}) {
  const query = await searchParams;
  const back = ownPath(query.callbackUrl);
  if ((await sessionActor()) !== null) redirect(back);
  const config = loadConfig();
  return (
    <main className="si">
      <div className="box">
        <div className="brand">
          <Mark />
          Event Admin
        </div>
        <h1>Sign in</h1>
        <p className="sub">Replay and repair of failed projections. Every change needs two persons.</p>
        <SignInForm
          demo={config.demo}
          organisation={config.oidc !== null}
          refused={signInProblemText(query.error)}
          back={back}
          notice={back === "/" ? undefined : "Sign in to go on. You come back to the page you opened."}
        />
      </div>
    </main>
  );
}
