import type { Metadata } from "next";
import { Suspense } from "react";
import { PlanPage } from "@/components/event-replay/plan/plan-page";

export const metadata: Metadata = { title: "Plan a replay" };

export default function Page() {
  return (
    <Suspense>
      <PlanPage />
    </Suspense>
  );
}
