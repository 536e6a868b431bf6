import type { Metadata } from "next";
import { RequestPage } from "@/components/event-replay/request/request-page";

export const metadata: Metadata = { title: "Replay request" };

export default async function Page({ params }: { params: Promise<{ id: string }> }) {
  return <RequestPage replayRequestId={(await params).id} />;
}
