import NextAuth from "next-auth";
import { limitSignIn } from "@/server/operations/limit-sign-in";
import { runtime } from "@/server/operations/runtime";
import { secretOfSignIn } from "@/server/platform/auth/sign-in-secret";

export const dynamic = "force-dynamic";

type RouteContext = { params: Promise<{ nextauth: string[] }> };

function handler(request: Request, context: RouteContext): Promise<Response> {
  const { authOptions, config, limiter } = runtime();
  return limitSignIn(limiter, request, () => {
    const secret = secretOfSignIn(request.headers.get("cookie"), config.secrets);
    return NextAuth({ ...authOptions, secret })(request, context) as Promise<Response>;
  });
}

export { handler as GET, handler as POST };
