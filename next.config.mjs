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
          { key: "permissions-policy", value: "camera=(), geolocation=(), microphone=()" },
        ],
      },
    ];
  },
  // Types are `npm run check`'s business: a build at start takes half the time without them.
  typescript: { ignoreBuildErrors: true },
  // Packages that must stay one instance per process, or that load files of their own at run time.
  serverExternalPackages: ["pg", "pino", "prom-client"],
};
