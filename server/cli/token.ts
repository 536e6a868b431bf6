import { parseArgs } from "node:util";
import { findInstance } from "@/server/cli/instance";
import { CliRefusal, runCli } from "@/server/cli/run-cli";
import { issueDemoToken } from "@/server/platform/auth/demo/demo-token";
import { readSecrets } from "@/server/platform/config";
import { isCanonicalUuid } from "@/server/platform/ids";
import { DEMO_IDENTITIES } from "@/server/portal/demo/identities";

// `npm run token -- NAME [--host UUID]`: a bearer token of a demo identity, the last word on stdout. Demo mode only.
await runCli(async () => {
  const { values, positionals } = parseArgs({ options: { host: { type: "string" } }, allowPositionals: true });
  const [name] = positionals;
  const identity = DEMO_IDENTITIES.find((candidate) => candidate.name === name);
  const names = DEMO_IDENTITIES.map((candidate) => candidate.name).join(", ");
  if (!identity) throw new CliRefusal(`Usage: npm run token -- NAME [--host UUID]. Names: ${names}.`, 2);
  if (values.host !== undefined && !isCanonicalUuid(values.host))
    throw new CliRefusal("--host is not a canonical UUID.", 2);
  const instance = findInstance();
  if (!instance.demo)
    throw new CliRefusal("Tokens are made in demo mode only; a deployment's identity provider issues its own.");
  if (instance.secret === null) throw new CliRefusal("NEXTAUTH_SECRET is not set: the token would not be accepted.");
  const [signing] = readSecrets(instance.secret);
  const token = await issueDemoToken({ ...identity, hostId: values.host ?? identity.hostId }, signing);
  process.stdout.write(`${token}\n`);
});
