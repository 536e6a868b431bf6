import { createHash } from "node:crypto";
import type { Pool } from "@/server/platform/db/pool";
import { inTransaction, type Tx } from "@/server/platform/db/transaction";

const GENESIS = "0".repeat(64);
const BATCH = 2_000;

/**
 * NOT_LINKED record outside the chain · LINK_MISSING gap in the numbering · RECORD_MISSING link without its record · ALTERED
 * record (or its place) is not what was digested · BROKEN link doesn't continue the one before · CUT_OFF the chain ends before
 * or after its head · ANCHOR_LOST the noted head is not a link of the chain.
 */
export type ChainFault = {
  readonly rule: "NOT_LINKED" | "LINK_MISSING" | "RECORD_MISSING" | "ALTERED" | "BROKEN" | "CUT_OFF" | "ANCHOR_LOST";
  readonly hostId: string;
  readonly chainNo: number | null;
  readonly auditId: string | null;
};

/** Where a host's chain ends. Noted outside the database, it shows later that nothing up to it was cut off or written anew. */
export type ChainHead = { readonly hostId: string; readonly chainNo: number; readonly digest: string };

export type ChainReport = { readonly heads: readonly ChainHead[]; readonly faults: readonly ChainFault[] };

/**
 * Walks every host's audit chain and computes each digest here, not by the database's own function. Records must be complete,
 * unchanged, in order, all linked, up to the head; `anchors` are heads noted earlier. One consistent snapshot; at most 1,000
 * faults. What it can't see: a chain rewritten from some point on by who may disable triggers, unless a later head was noted.
 */
export async function verifyAuditChain(pool: Pool, anchors: readonly ChainHead[] = []): Promise<ChainReport> {
  return await inTransaction(
    pool,
    "verify-audit",
    async (tx) => {
      // The first statement of the transaction it is: from here on every query sees the same moment.
      await tx.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
      const faults: ChainFault[] = [];
      const heads = await tx.query<ChainHead>(
        `SELECT host_id AS "hostId", chain_no AS "chainNo", link_digest AS digest FROM event_replay_audit_head_t ORDER BY host_id`,
      );
      for (const hostId of await chainedHosts(tx)) {
        faults.push(...(await walk(tx, hostId, heads.find((head) => head.hostId === hostId) ?? null)));
      }
      faults.push(...(await unlinked(tx)), ...(await lostAnchors(tx, anchors)));
      return { heads, faults: faults.slice(0, 1_000) };
    },
    { readOnly: true, statementTimeoutMs: 0, attempts: 1 },
  );
}

async function chainedHosts(tx: Tx): Promise<string[]> {
  const rows = await tx.query<{ hostId: string }>(
    `SELECT host_id AS "hostId" FROM event_replay_audit_head_t
      UNION SELECT DISTINCT host_id FROM event_replay_audit_chain_t ORDER BY 1`,
  );
  return rows.map((row) => row.hostId);
}

type Link = {
  readonly chainNo: number;
  readonly auditId: string;
  readonly previous: string;
  readonly digest: string;
  /** The record as it was digested; null when it is gone. Same expression as ea_append_audit_link. */
  readonly content: string | null;
};

async function walk(tx: Tx, hostId: string, head: ChainHead | null): Promise<ChainFault[]> {
  const faults: ChainFault[] = [];
  let last = { chainNo: 0, digest: GENESIS };
  for (;;) {
    const links = await loadLinks(tx, hostId, last.chainNo);
    for (const link of links) {
      const fault = (rule: ChainFault["rule"]) =>
        faults.push({ rule, hostId, chainNo: link.chainNo, auditId: link.auditId });
      if (link.chainNo !== last.chainNo + 1) fault("LINK_MISSING");
      else if (link.previous !== last.digest) fault("BROKEN");
      if (link.content === null) fault("RECORD_MISSING");
      else if (sha256(`${link.previous}\n${link.content}`) !== link.digest) fault("ALTERED");
      last = link;
    }
    if (links.length < BATCH) break;
  }
  if (head?.chainNo !== last.chainNo || head.digest !== last.digest) {
    faults.push({ rule: "CUT_OFF", hostId, chainNo: last.chainNo, auditId: null });
  }
  return faults;
}

async function loadLinks(tx: Tx, hostId: string, after: number): Promise<Link[]> {
  return await tx.query<Link>(
    `SELECT c.chain_no AS "chainNo", c.audit_id AS "auditId", c.previous_digest AS previous, c.link_digest AS digest,
            CASE WHEN a.audit_id IS NULL THEN NULL ELSE jsonb_build_array(
              c.chain_no, a.host_id, a.audit_id, a.event_name, a.actor_type, a.actor_id, a.replay_request_id, a.failure_id,
              a.barrier_id, a.reason, a.details, to_char(a.created_ts AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'),
              a.transaction_xid::text)::text END AS content
       FROM event_replay_audit_chain_t c
       LEFT JOIN event_replay_audit_t a ON a.host_id = c.host_id AND a.audit_id = c.audit_id
      WHERE c.host_id = $1 AND c.chain_no > $2 ORDER BY c.chain_no LIMIT ${BATCH}`,
    [hostId, after],
  );
}

async function unlinked(tx: Tx): Promise<ChainFault[]> {
  return await tx.query<ChainFault>(
    `SELECT 'NOT_LINKED' AS rule, a.host_id AS "hostId", NULL::int8 AS "chainNo", a.audit_id AS "auditId"
       FROM event_replay_audit_t a
      WHERE NOT EXISTS (SELECT FROM event_replay_audit_chain_t c WHERE c.host_id = a.host_id AND c.audit_id = a.audit_id)
      ORDER BY a.host_id, a.created_ts LIMIT 1000`,
  );
}

async function lostAnchors(tx: Tx, anchors: readonly ChainHead[]): Promise<ChainFault[]> {
  const faults: ChainFault[] = [];
  for (const { hostId, chainNo, digest } of anchors) {
    const found = await tx.query(
      `SELECT 1 FROM event_replay_audit_chain_t WHERE host_id = $1 AND chain_no = $2 AND link_digest = $3`,
      [hostId, chainNo, digest],
    );
    if (found.length === 0) faults.push({ rule: "ANCHOR_LOST", hostId, chainNo, auditId: null });
  }
  return faults;
}

const sha256 = (text: string) => createHash("sha256").update(text, "utf8").digest("hex");
