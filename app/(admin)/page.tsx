import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { requestHref } from "@/components/event-replay/request/replay-words";
import { idOf } from "@/components/event-replay/requests/requests-view";
import { OverviewPage } from "@/components/overview/overview-page";

export const metadata: Metadata = { title: "Overview" };

/** `?replayRequestId=` opens that request. */
export default async function Page({
  searchParams,
}: {
  searchParams: Promise<{ replayRequestId?: string | string[] }>;
}) {
  const { replayRequestId } = await searchParams;
  const id = typeof replayRequestId === "string" ? idOf(replayRequestId) : undefined;
  if (id) redirect(requestHref(id));
  return <OverviewPage />;
}
