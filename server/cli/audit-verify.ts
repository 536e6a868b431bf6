import { parseArgs } from "node:util";
import { withTargetDatabase } from "@/server/cli/database-target";
import { CliRefusal, runCli } from "@/server/cli/run-cli";
import { type ChainHead, verifyAuditChain } from "@/server/governance/audit-trail/verify-chain";
import { createPool } from "@/server/platform/db/pool";

// Usage: npm run audit:verify -- [--expect HOST:NUMBER:DIGEST]…
// Exit 0: every record of every host is complete, unchanged, in order. Prints each chain's head; note it elsewhere and hand it
// in by --expect later: then nothing up to it can have been cut off or written anew. Exit 1: what is wrong, one line each.
await runCli(async () => {
  const { values } = parseArgs({ options: { expect: { type: "string", multiple: true, default: [] } } });
  const anchors = values.expect.map(readAnchor);
  await withTargetDatabase(async (databaseUrl) => {
    const pool = createPool(databaseUrl, { max: 1, name: "audit-verify" });
    try {
      const { heads, faults } = await verifyAuditChain(pool, anchors);
      for (const fault of faults) {
        const parts = [fault.rule, fault.hostId, fault.chainNo ?? "-", fault.auditId ?? "-"];
        process.stdout.write(`${parts.join(" ")}\n`);
      }
      if (faults.length > 0) throw new CliRefusal(`${faults.length} faults in the audit chain.`);
      for (const head of heads) process.stdout.write(`${head.hostId}:${head.chainNo}:${head.digest}\n`);
      process.stdout.write("The audit is complete and unchanged.\n");
    } finally {
      await pool.end();
    }
  });
});

function readAnchor(text: string): ChainHead {
  const match = /^([0-9a-f-]{36}):([1-9]\d{0,15}):([0-9a-f]{64})$/.exec(text);
  if (!match) throw new CliRefusal("--expect is HOST:NUMBER:DIGEST, as an earlier run printed it.", 2);
  const [, hostId = "", chainNo, digest = ""] = match;
  return { hostId, chainNo: Number(chainNo), digest };
}
