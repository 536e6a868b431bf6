"use client";
import { QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Icon } from "@/components/ui/icon";
import { Problem } from "./problem";

const RETRIES = 2;

/** What somebody is typing is lost when the page is left. */
const isTyping = (): boolean =>
  [...document.querySelectorAll<HTMLTextAreaElement>("main textarea")].some((field) => field.value.trim() !== "");

const toSignIn = () => {
  const back = encodeURIComponent(location.pathname + location.search);
  location.assign(`/sign-in?callbackUrl=${back}`);
};

/**
 * Reads are repeated at most twice, only when the server says they may be; commands never are. A read that finds the
 * session ended, or somebody else signed in, leads to sign-in and back; unless something is typed: then the page stays as it
 * is and says so, until a read is answered again. A command never leaves the page.
 */
function makeClient(onSession: (ended: boolean) => void): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache({
      onError: (error) => {
        if (!(error instanceof Problem) || error.code !== "UNAUTHENTICATED") return;
        if (isTyping()) onSession(true);
        else toSignIn();
      },
      onSuccess: () => onSession(false),
    }),
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
  const [ended, setEnded] = useState(false);
  const [client] = useState(() => makeClient(setEnded));
  return (
    <QueryClientProvider client={client}>
      {children}
      {ended ? (
        <div className="note held session-ended" role="alert">
          <Icon name="warning" />
          <span>
            Your session has ended, or somebody else signed in in this browser. What you typed stays here:{" "}
            <a className="link" href="/sign-in" target="_blank" rel="noreferrer">
              sign in as yourself in another tab
            </a>{" "}
            and go on.
          </span>
        </div>
      ) : null}
    </QueryClientProvider>
  );
}
