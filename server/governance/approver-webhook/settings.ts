import { ConfigError } from "@/server/platform/config-error";

export type WebhookSettings = { readonly url: string; readonly secret: string; readonly publicUrl: string | null };

const MIN_SECRET_LENGTH = 32;
const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * WEBHOOK_URL and WEBHOOK_SECRET; null without WEBHOOK_URL: the webhook is off by default. Throws ConfigError for an address
 * that isn't https (plain http only on this machine), one that carries a user or password, or a short secret.
 */
export function readWebhookSettings(env: Readonly<Record<string, string | undefined>>): WebhookSettings | null {
  if (!env.WEBHOOK_URL) return null;
  const url = URL.canParse(env.WEBHOOK_URL) ? new URL(env.WEBHOOK_URL) : null;
  const secure = url?.protocol === "https:" || (url?.protocol === "http:" && LOOPBACK.has(url.hostname));
  if (!url || !secure || url.username !== "" || url.password !== "") {
    throw new ConfigError("WEBHOOK_URL", "WEBHOOK_URL is an https address without user and password.");
  }
  if ((env.WEBHOOK_SECRET ?? "").length < MIN_SECRET_LENGTH) {
    throw new ConfigError("WEBHOOK_SECRET", `WEBHOOK_SECRET must have at least ${MIN_SECRET_LENGTH} characters.`);
  }
  return { url: url.href, secret: env.WEBHOOK_SECRET as string, publicUrl: env.NEXTAUTH_URL || null };
}
