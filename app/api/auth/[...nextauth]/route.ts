import NextAuth from "next-auth";
import { runtime } from "@/server/operations/runtime";

export const dynamic = "force-dynamic";

type RouteContext = { params: Promise<{ nextauth: string[] }> };

function handler(request: Request, context: RouteContext): Promise<Response> {
  return NextAuth(runtime().authOptions)(request, context) as Promise<Response>;
}

export { handler as GET, handler as POST };
