"use client";
import { Failed } from "@/components/ui/states";

/** A defect while drawing a page: said plainly, without its text; the digest finds it in the server's log. */
export default function ErrorPage({ error, reset }: { error: Error & { digest?: string }; reset: () => void }) {
  return (
    <Failed
      title="This page could not be drawn"
      sentence="Something failed on our side."
      kept="Nothing was changed."
      requestId={error.digest}
      onRetry={reset}
    />
  );
}
