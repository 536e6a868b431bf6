import { defineConfig } from "drizzle-kit";

/** drizzle is used for the schema and its migrations only; all other SQL is visible in the repositories. */
export default defineConfig({
  dialect: "postgresql",
  schema: "./drizzle/schema/*.ts",
  out: "./drizzle/migrations",
});
