import type { Metadata, Viewport } from "next";
import { cookies, headers } from "next/headers";
import type { ReactNode } from "react";
import "./globals.css";

export const metadata: Metadata = {
  title: { default: "Event Admin", template: "%s · Event Admin" },
  description: "Exact, accountable recovery of failed projections.",
};

export const viewport: Viewport = { width: "device-width", initialScale: 1 };

/**
 * Reading the headers makes every page dynamic, so that the framework puts the nonce of the request's content security
 * policy on its scripts. The theme is a cookie: the first paint has it, without a script.
 */
export default async function RootLayout({ children }: { children: ReactNode }) {
  await headers();
  const theme = (await cookies()).get("ea_theme")?.value;
  return (
    <html lang="en" data-theme={theme === "dark" || theme === "light" ? theme : undefined} suppressHydrationWarning>
      <body>{children}</body>
    </html>
  );
}
