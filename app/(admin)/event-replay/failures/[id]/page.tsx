import type { Metadata } from "next";
import { FailurePage } from "@/components/event-replay/failure-page";

export const metadata: Metadata = { title: "Failure" };

export default async function Page({ params }: { params: Promise<{ id: string }> }) {
  return <FailurePage failureId={(await params).id} />;
}
