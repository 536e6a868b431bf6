import type { Metadata } from "next";
import { ApprovalsPage } from "@/components/event-replay/approvals/approvals-page";

export const metadata: Metadata = { title: "Approvals" };

export default function Page() {
  return <ApprovalsPage />;
}
