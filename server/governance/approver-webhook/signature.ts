import { createHmac } from "node:crypto";

/**
 * `t=<unix seconds>,v1=<hex>`: HMAC-SHA256 of `<seconds>.<body>` under the shared secret. The receiver recomputes it over the
 * bytes it got, compares in constant time, and refuses an old time: so nobody else can send, change or repeat a notice.
 */
export function signatureOf(secret: string, unixSeconds: number, body: string): string {
  return `t=${unixSeconds},v1=${createHmac("sha256", secret).update(`${unixSeconds}.${body}`).digest("hex")}`;
}
