import { cookies } from "next/headers";
import type { ReactNode } from "react";
import { QueryProvider } from "@/components/api/query-provider";
import { ViewerProvider } from "@/components/api/session";
import { AppShell } from "@/components/shell/app-shell";
import { ClockProvider } from "@/components/ui/clock";
import { isTimeZone } from "@/components/ui/format";
import { requireSession } from "@/server/platform/auth/require-session";
import { loadConfig } from "@/server/platform/config";

/** The guard of every console page: without a session it leads to sign-in and back. Handlers check again by themselves. */
export default async function AdminLayout({ children }: { children: ReactNode }) {
  const actor = await requireSession();
  const kept = (await cookies()).get("ea_zone")?.value;
  const zone = kept !== undefined && isTimeZone(kept) ? kept : undefined;
  return (
    <QueryProvider>
      <ViewerProvider
        viewer={{ name: actor.name, hostId: actor.hostId, personKey: actor.userId, demo: loadConfig().demo }}
      >
        <ClockProvider startMs={Math.floor(Date.now() / 1000) * 1000} zone={zone}>
          <AppShell>{children}</AppShell>
        </ClockProvider>
      </ViewerProvider>
    </QueryProvider>
  );
}
