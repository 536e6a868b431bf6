/** Answers that proxy.ts doesn't see (same list as its matcher) run and embed nothing, also where none of our routes answers. */
const WITHOUT_PROXY = "/:path(api/events.*|api/event-replay/.*|portal/.*|healthz.*|readyz.*|metrics.*)";

/** @type {import("next").NextConfig} */
export default {
  poweredByHeader: false,
  // The same for every answer; what needs a nonce is set by proxy.ts.
  async headers() {
    return [
      {
        source: "/:path*",
        headers: [
          { key: "x-content-type-options", value: "nosniff" },
          { key: "x-frame-options", value: "DENY" },
          { key: "referrer-policy", value: "same-origin" },
          { key: "cross-origin-opener-policy", value: "same-origin" },
          { key: "cross-origin-resource-policy", value: "same-origin" },
          { key: "origin-agent-cluster", value: "?1" },
          { key: "x-permitted-cross-domain-policies", value: "none" },
          {
            key: "permissions-policy",
            value:
              "accelerometer=(), autoplay=(), camera=(), display-capture=(), encrypted-media=(), fullscreen=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), midi=(), payment=(), publickey-credentials-get=(), screen-wake-lock=(), usb=(), xr-spatial-tracking=()",
          },
        ],
      },
      {
        source: "/:path*",
        has: [{ type: "header", key: "x-forwarded-proto", value: "https" }],
        headers: [{ key: "strict-transport-security", value: "max-age=31536000; includeSubDomains" }],
      },
      {
        source: WITHOUT_PROXY,
        headers: [
          { key: "content-security-policy", value: "default-src 'none'; frame-ancestors 'none'" },
          { key: "cache-control", value: "no-store" },
        ],
      },
      // Scripts and styles need no policy of their own; the page that tells of a missing one does.
      {
        source: "/_next/:path*",
        headers: [{ key: "content-security-policy", value: "default-src 'none'; frame-ancestors 'none'" }],
      },
    ];
  },
  // Types are `npm run check`'s business: a build at start takes half the time without them.
  typescript: { ignoreBuildErrors: true },
  // Packages that must stay one instance per process, or that load files of their own at run time.
  serverExternalPackages: ["pg", "pino", "prom-client"],
};
