import { checkReferencedVersions, type VersionReference } from "@/server/event-replay/registry/domain/gates";
import type { PolicyRegistries } from "@/server/event-replay/registry/domain/policy";
import type { Pool } from "@/server/platform/db/pool";
import { inTransaction, type Tx } from "@/server/platform/db/transaction";

/** A version that stored work still needs isn't deployed. Names versions and event types only. */
export class ReferencedVersionMissing extends Error {
  constructor(readonly missing: readonly VersionReference[]) {
    const names = missing.slice(0, 10).map((reference) => {
      if (reference.kind === "REPAIR_SCHEMA") return `repair schema ${reference.repairSchemaVersion}`;
      if (reference.kind === "REGISTRY") return `registry ${reference.registryVersion}`;
      return `${reference.eventType} ${reference.schemaVersion} of ${reference.registryVersion}`;
    });
    super(`stored events, failures, repairs or plans still need what this build removed: ${names.join(", ")}`);
    this.name = "ReferencedVersionMissing";
  }
}

/**
 * Start-up gate (ER-APP-24): refuses to run a build from which a registry version, event type or repair schema was removed that an
 * appended event, an OPEN failure, a repair or a plan is pinned to. Adding versions never fails it (ER-APP-25). Throws
 * ReferencedVersionMissing.
 */
export async function assertReferencedVersions(pool: Pool, registries: PolicyRegistries): Promise<void> {
  const references = await inTransaction(pool, "referenced-versions", loadReferences, {
    readOnly: true,
    statementTimeoutMs: 120_000,
  });
  const missing = checkReferencedVersions(registries, references);
  if (missing.length > 0) throw new ReferencedVersionMissing(missing);
}

type Row = {
  registry_version: string;
  event_type: string | null;
  schema_version: string | null;
  repair_schema: string | null;
};

async function loadReferences(tx: Tx): Promise<VersionReference[]> {
  const rows = await tx.query<Row>(
    `SELECT DISTINCT policy_registry_version AS registry_version, event_type, event_schema_version AS schema_version,
            repair_schema_version AS repair_schema
     FROM event_store_t
     UNION
     SELECT m.policy_registry_version, m.event_type, m.event_schema_version, m.repair_schema_version
     FROM event_failure_transaction_t f JOIN event_failure_event_t m USING (host_id, failure_id)
     WHERE f.status = 'OPEN' AND f.executable
     UNION
     SELECT policy_registry_version, NULL, NULL, repair_schema_version FROM event_repair_t
     UNION
     SELECT policy_registry_version, NULL, NULL, repair_schema_version FROM event_replay_request_t`,
  );
  return rows.flatMap(referencesOf);
}

function referencesOf(row: Row): VersionReference[] {
  const registryVersion = row.registry_version;
  const references: VersionReference[] = [];
  if (row.event_type === null || row.schema_version === null) references.push({ kind: "REGISTRY", registryVersion });
  else
    references.push({
      kind: "EVENT_TYPE",
      registryVersion,
      eventType: row.event_type,
      schemaVersion: row.schema_version,
    });
  if (row.repair_schema !== null) {
    references.push({ kind: "REPAIR_SCHEMA", registryVersion, repairSchemaVersion: row.repair_schema });
  }
  return references;
}
