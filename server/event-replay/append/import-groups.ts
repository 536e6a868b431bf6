import type { ErrorCode } from "@/server/contracts/errors";
import type { EventEnvelope } from "@/server/event-replay/registry/domain/envelope";
import { APPEND_LIMITS } from "@/server/event-replay/registry/domain/limits";
import { newId } from "@/server/platform/ids";
import type { Proposal } from "./domain/prepare";

/** What one transaction may hold in memory as parsed events before it is refused as too large. */
const MAX_GROUP_BYTES = 2 * APPEND_LIMITS.transactionBytes;

type Group = {
  readonly hostId: string;
  readonly transactionId: string;
  readonly firstLine: number;
  members: { envelope: EventEnvelope; line: number }[];
  bytes: number;
};

/**
 * Lines to transactions: an event without `transactionid` is one of its own; adjacent lines of one host and id are one. An id
 * that comes back later is a second transaction of that id, which the boundary refuses.
 */
export class ImportGroups {
  private open: Group | null = null;

  constructor(
    private readonly whole: (proposal: Proposal) => void,
    private readonly refuse: (line: number, code: ErrorCode, rule: string) => void,
  ) {}

  add(envelope: EventEnvelope, line: number, bytes: number): void {
    const { claimedTransactionId: transactionId, hostId } = envelope;
    if (this.open && (this.open.transactionId !== transactionId || this.open.hostId !== hostId)) this.end();
    if (transactionId === null) {
      this.whole(proposal(newId(), false, [{ envelope, line }]));
      return;
    }
    this.open ??= { hostId, transactionId, firstLine: line, members: [], bytes: 0 };
    this.open.bytes += bytes;
    if (this.isTooLarge(this.open)) this.open.members = [];
    else this.open.members.push({ envelope, line });
  }

  /** The end of a file ends its last transaction. */
  end(): void {
    const group = this.open;
    this.open = null;
    if (!group) return;
    if (this.isTooLarge(group)) this.refuse(group.firstLine, "REPLAY_LIMIT_EXCEEDED", "TRANSACTION_TOO_LARGE");
    else this.whole(proposal(group.transactionId, true, group.members));
  }

  private isTooLarge(group: Group): boolean {
    return group.bytes > MAX_GROUP_BYTES;
  }
}

function proposal(transactionId: string, explicitId: boolean, members: Proposal["members"]): Proposal {
  return { stage: "DIRECT_APPEND", transactionId, explicitId, members, isImport: true };
}
