import NextAuth from "next-auth";
import { runtime } from "@/server/operations/runtime";
import { secretOfSignIn } from "@/server/platform/auth/sign-in-secret";

export const dynamic = "force-dynamic";

type RouteContext = { params: Promise<{ nextauth: string[] }> };

function handler(request: Request, context: RouteContext): Promise<Response> {
  const { authOptions, config } = runtime();
  const secret = secretOfSignIn(request.headers.get("cookie"), config.secrets);
  return NextAuth({ ...authOptions, secret })(request, context) as Promise<Response>;
}

export { handler as GET, handler as POST };
