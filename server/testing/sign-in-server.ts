import http from "node:http";
import type { AddressInfo } from "node:net";
import NextAuth, { type NextAuthOptions } from "next-auth";
import { parseCookies } from "@/server/platform/auth/session-cookie";
import { secretOfSignIn } from "@/server/platform/auth/sign-in-secret";
import type { Secrets } from "@/server/platform/config";

/** One replica's part of signing in: the options it was built with and its secrets. */
export type SignInReplica = { readonly options: NextAuthOptions; readonly secrets: Secrets };

export type SignInServer = {
  readonly url: string;
  /** Set before the first request: replicas take turns, request by request, as behind a plain load balancer. */
  replicas: readonly SignInReplica[];
  close(): Promise<void>;
};

/** The session routes behind a real socket, without the framework around them. */
export async function startSignInServer(): Promise<SignInServer> {
  process.env.AUTH_TRUST_HOST = "1";
  let turn = 0;
  const server = http.createServer(async (request, response) => {
    const replica = running.replicas[turn++ % running.replicas.length];
    const url = new URL(request.url ?? "/", running.url);
    if (!replica || !url.pathname.startsWith("/api/auth/")) {
      response.end("page");
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const nextauth = url.pathname.slice("/api/auth/".length).split("/");
    const cookies = request.headers.cookie ?? "";
    const input = {
      method: request.method,
      headers: { ...request.headers, "x-forwarded-host": request.headers.host, "x-forwarded-proto": "http" },
      query: { ...Object.fromEntries(url.searchParams), nextauth },
      cookies: Object.fromEntries([...parseCookies(cookies)].map(([name, value]) => [name, decodeURIComponent(value)])),
      body: Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString())),
    };
    const options = { ...replica.options, secret: secretOfSignIn(cookies, replica.secrets) };
    await NextAuth(input as never, pagesResponse(response) as never, options);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const running: SignInServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    replicas: [],
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return running;
}

function pagesResponse(response: http.ServerResponse) {
  const helpers = {
    status(code: number) {
      response.statusCode = code;
      return helpers;
    },
    setHeader(name: string, value: string | string[]) {
      response.setHeader(name, value);
      return helpers;
    },
    getHeader: (name: string) => response.getHeader(name),
    json: (body: unknown) => response.setHeader("content-type", "application/json").end(JSON.stringify(body)),
    send: (body: unknown) => response.end(typeof body === "string" ? body : JSON.stringify(body ?? {})),
    end: () => response.end(),
  };
  return helpers;
}
