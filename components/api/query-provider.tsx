"use client";
import { QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Problem } from "./problem";

const RETRIES = 2;

const toSignIn = (error: unknown) => {
  if (!(error instanceof Problem) || error.code !== "UNAUTHENTICATED") return;
  const back = encodeURIComponent(location.pathname + location.search);
  location.assign(`/sign-in?callbackUrl=${back}`);
};

/**
 * Reads are repeated at most twice, only when the server says they may be; commands never are. A read that finds the
 * session ended leads to sign-in and back; a command leaves the page as it is, so that nothing typed is lost.
 */
function makeClient(): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache({ onError: toSignIn }),
    defaultOptions: {
      queries: {
        staleTime: 2_000,
        refetchOnWindowFocus: true,
        retry: (failures, error) => failures < RETRIES && error instanceof Problem && error.retryable,
        retryDelay: (attempt) => 500 * 2 ** attempt,
      },
      mutations: { retry: false },
    },
  });
}

export function QueryProvider({ children }: { children: ReactNode }) {
  const [client] = useState(makeClient);
  return <QueryClientProvider client={client}>{children}</QueryClientProvider>;
}
