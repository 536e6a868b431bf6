import type { Metadata } from "next";
import { ButtonLink } from "@/components/ui/button";

export const metadata: Metadata = { title: "No such page" };

export default function NotFound() {
  return (
    <main className="si">
      <div className="empty">
        <h1>There is no such page</h1>
        <p>The address leads nowhere on this server. Nothing was changed.</p>
        <div className="row acts">
          <ButtonLink href="/">Overview</ButtonLink>
        </div>
      </div>
    </main>
  );
}
