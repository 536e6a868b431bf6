import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { Suspense } from "react";
import { requestHref } from "@/components/event-replay/request/replay-words";
import { RequestsPage } from "@/components/event-replay/requests/requests-page";
import { idOf } from "@/components/event-replay/requests/requests-view";

export const metadata: Metadata = { title: "Requests" };

/** `?replayRequestId=` opens that request, as an address handed over elsewhere names it. */
export default async function Page({
  searchParams,
}: {
  searchParams: Promise<{ replayRequestId?: string | string[] }>;
}) {
  const { replayRequestId } = await searchParams;
  const id = typeof replayRequestId === "string" ? idOf(replayRequestId) : undefined;
  if (id) redirect(requestHref(id));
  return (
    <Suspense>
      <RequestsPage />
    </Suspense>
  );
}
