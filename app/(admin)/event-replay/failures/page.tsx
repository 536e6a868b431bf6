import type { Metadata } from "next";
import { Suspense } from "react";
import { FailuresPage } from "@/components/event-replay/failures-page";

export const metadata: Metadata = { title: "Failures" };

export default function Page() {
  return (
    <Suspense>
      <FailuresPage />
    </Suspense>
  );
}
