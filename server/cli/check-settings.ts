import { runCli } from "@/server/cli/run-cli";
import { loadConfig } from "@/server/platform/config";

// Before a web process starts: settings that it could not serve by are refused by name, with what to do, exit 1.
await runCli(async () => {
  loadConfig();
});
