// Who may import whom. Each comment says what to do instead. `server/cli/check/planted-imports.mjs` holds one violation per
// rule; `npm run check` plants each and wants to see it reported.

/** Modules of the event-replay context in dependency order: imports only go left. */
const MODULES = ["registry", "projection", "capture", "live", "append", "failures", "planning", "execution"];

const TESTS = "(\\.test\\.tsx?$|^server/testing/|/testing/|^e2e/)";

const moduleOrder = MODULES.slice(0, -1).map((name, index) => ({
  name: `order-${name}`,
  comment: `Event-replay modules import only earlier ones (${MODULES.join(" < ")}). Move what both need into the earlier module.`,
  severity: "error",
  from: { path: `^server/event-replay/${name}/`, pathNot: TESTS },
  to: { path: `^server/event-replay/(${MODULES.slice(index + 1).join("|")})/` },
}));

module.exports = {
  forbidden: [
    {
      name: "no-cycle",
      comment: "Move the shared part into a file that both import.",
      severity: "error",
      from: { pathNot: TESTS },
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    {
      name: "no-unresolved",
      comment: "The import names no file or package: correct the path, or ask for the dependency in package.json.",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: "domain-is-pure",
      comment:
        "Domain code gets what it needs as arguments: no database, network, file, clock, random. Do the effect in the operation.",
      severity: "error",
      from: { path: "^server/.+/domain/", pathNot: TESTS },
      to: {
        pathNot:
          "^server/.+/domain/|^server/contracts/|^server/platform/(digest|errors|ids)\\.ts$|^server/platform/json/|^server/platform/db/pg-errors\\.ts$|(^|/)node_modules/(zod|ajv|ajv-formats|uuid)/",
        dependencyTypesNot: ["type-only"],
      },
    },
    {
      name: "domain-types-stay-in",
      comment: "A domain type may name Tx and other server types, never a driver's or framework's.",
      severity: "error",
      from: { path: "^server/.+/domain/", pathNot: TESTS },
      to: { path: "(^|/)node_modules/(pg|@types/pg|drizzle-orm|kafkajs|next|react)/" },
    },
    ...moduleOrder,
    {
      name: "engine-knows-no-portal",
      comment: "The example domain is replaceable. The engine gets a ProjectionDefinition from the composition root.",
      severity: "error",
      from: { path: "^server/event-replay/", pathNot: TESTS },
      to: { path: "^server/portal/" },
    },
    {
      name: "portal-uses-the-boundary",
      comment:
        "The example domain appends through append/ and describes itself with registry and projection types; nothing else.",
      severity: "error",
      from: { path: "^server/portal/", pathNot: TESTS },
      to: { path: "^server/event-replay/(capture|live|failures)/" },
    },
    {
      name: "platform-knows-no-context",
      comment: "Platform code gets contexts' parts as arguments (operations, definitions).",
      severity: "error",
      from: { path: "^server/platform/", pathNot: TESTS },
      to: { path: "^server/(event-replay|portal|notifications|operations|processors|cli)/" },
    },
    {
      name: "contracts-know-nothing",
      comment: "Contracts are shared with the browser: only the schema library and other contracts.",
      severity: "error",
      from: { path: "^server/contracts/", pathNot: TESTS },
      to: { pathNot: "^server/contracts/|(^|/)node_modules/zod/" },
    },
    {
      name: "database-schema-is-for-migrations",
      comment: "SQL is written out in repositories; drizzle serves the schema and its migrations only.",
      severity: "error",
      from: { path: "^(server|app|components)/", pathNot: [TESTS, "^server/platform/db/", "^server/cli/"] },
      to: { path: "^drizzle/|(^|/)node_modules/drizzle-orm/" },
    },
    {
      name: "driver-only-in-platform",
      comment: "Open transactions with inTransaction and pools with createPool (server/platform/db). Types are fine.",
      severity: "error",
      from: { path: "^(server|app|components)/", pathNot: [TESTS, "^server/platform/db/", "^server/cli/"] },
      to: { path: "(^|/)node_modules/pg/", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "app-is-thin",
      comment: "Pages and routes compose components and hand requests to operations; rules and SQL live behind those.",
      severity: "error",
      from: { path: "^(app/|proxy\\.ts)", pathNot: TESTS },
      to: {
        path: "^(server|drizzle)/|(^|/)node_modules/(pg|drizzle-orm)/",
        pathNot:
          "^server/(contracts|operations)/|^server/platform/(http|auth)/|^server/platform/(config|log|metrics)\\.ts$",
      },
    },
    {
      name: "components-are-for-the-browser",
      comment: "Components see contracts and forms; data comes through components/api. Types of the server count too.",
      severity: "error",
      from: { path: "^components/", pathNot: TESTS },
      to: { path: "^(server|app|drizzle|e2e)/", pathNot: "^server/contracts/" },
    },
    {
      name: "ui-is-domain-free",
      comment: "components/ui would fit another product: pass what it shows as props.",
      severity: "error",
      from: { path: "^components/ui/", pathNot: TESTS },
      to: { path: "^(server|app|components|forms)/", pathNot: "^components/ui/" },
    },
    {
      name: "nobody-imports-entry-points",
      comment:
        "Entry points (app, processors, cli) are ends. Move the shared part into the context or platform it belongs to.",
      severity: "error",
      from: { path: "^(server|components|drizzle|forms)/", pathNot: [TESTS, "^server/(cli|processors)/"] },
      to: { path: "^(app|server/processors|server/cli|e2e)/" },
    },
    {
      name: "cli-stays-outside-app",
      comment: "A script uses operations and contexts, never pages or processors.",
      severity: "error",
      from: { path: "^server/cli/", pathNot: TESTS },
      to: { path: "^(app|components|server/processors)/" },
    },
    {
      name: "tests-are-not-imported",
      comment:
        "Product code doesn't know its tests: move a shared builder into server/testing and use it from tests only.",
      severity: "error",
      from: { pathNot: [TESTS, "^server/cli/(bench|mutants|test|check)", "vitest\\.config\\.ts$"] },
      to: { path: "\\.test\\.tsx?$|^server/testing/|(^|/)node_modules/(vitest|fast-check|@playwright)/" },
    },
    {
      name: "e2e-stays-outside",
      comment: "Browser tests see the product as its users do: contracts, test helpers and scripts, no inner module.",
      severity: "error",
      from: { path: "^e2e/" },
      to: { path: "^(server|app|components|drizzle)/", pathNot: "^server/(contracts|testing|cli)/" },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^(\\.next|\\.data|public)/" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      extensions: [".ts", ".tsx", ".mjs", ".js", ".cjs", ".json", ".css"],
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default", "types"],
    },
  },
};
