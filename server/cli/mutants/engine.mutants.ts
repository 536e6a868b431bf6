import type { Mutant } from "@/server/cli/mutants/mutant";

const PROJECTION = "server/event-replay/projection";
const CAPTURE = "server/event-replay/capture";
const LIVE = "server/event-replay/live";

/** The executor, canonical capture and the live processor. */
export const mutants: readonly Mutant[] = [
  {
    id: "ER-EXE-06",
    removes: "scopes move on the caller's transaction, with the projection rows",
    file: `${PROJECTION}/execute.ts`,
    find: "  await board.save(tx);\n",
    replace: "",
    test: `${PROJECTION}/execute.int.test.ts`,
    title: "ER-EXE-06 projection rows and ordering rows are in one commit",
  },
  {
    id: "ER-EXE-11",
    removes: "replay writes what live writes: the mode chooses no other path",
    file: `${PROJECTION}/execute.ts`,
    find: "  await writer.flush();\n",
    replace: '  if (mode === "LIVE") await writer.flush();\n',
    test: `${PROJECTION}/execute.int.test.ts`,
    title: "ER-EXE-11 LIVE on one database and REPLAY on another",
  },
  {
    id: "ER-EXE-17",
    removes: "incomplete transactions are refused before any handler",
    file: `${PROJECTION}/domain/membership.ts`,
    find: "return declaredCount > 0 && members.length === declaredCount && members.every((member, i) => member.ordinal === i);",
    replace: "return declaredCount >= members.length;",
    test: `${PROJECTION}/execute.int.test.ts`,
    title: "ER-EXE-17 an incomplete or mis-ordered transaction",
  },
  {
    id: "ER-EXE-18",
    removes: "a gap in a scope stops the transaction",
    file: `${PROJECTION}/domain/continuity.ts`,
    find: "const startsRight = expected === null || first === expected ||",
    replace: "const startsRight = expected === null || first >= expected ||",
    test: `${LIVE}/project-batch.int.test.ts`,
    title: "ER-EXE-18 versions after a failed one",
  },
  {
    id: "ER-APP-23",
    removes: "projection under the pinned registry version",
    file: `${PROJECTION}/domain/prepare.ts`,
    find: "definition.registries.version(member.policyRegistryVersion)?.find(",
    replace: "definition.registries.current.find(",
    test: `${PROJECTION}/execute.int.test.ts`,
    title: "ER-APP-23 an event is projected under the registry version",
  },
  {
    id: "ER-CAP-03",
    removes: "progress waits for the capture",
    file: `${LIVE}/isolate.ts`,
    find: "await captureFailure(this.tx, this.definition, transaction, reason);",
    replace: "await captureFailure(this.tx, this.definition, transaction, reason).catch(() => undefined);",
    test: `${LIVE}/project-batch.int.test.ts`,
    title: "ER-CAP-03 when the archive refuses a failure",
  },
  {
    id: "ER-EXE-15",
    removes: "deferred constraints are checked before a part counts as projected",
    file: `${LIVE}/isolate.ts`,
    find: "      await checkConstraints(this.tx);\n",
    replace: "",
    test: `${LIVE}/project-batch.int.test.ts`,
    title: "ER-EXE-15 a batch that can't commit moves nothing",
  },
  {
    id: "ER-PAY-03",
    removes: "capture of the exact bytes",
    file: `${CAPTURE}/repository.ts`,
    find: "o.payload_digest, 'DATABASE_PLAIN', o.event_bytes, octet_length(o.event_bytes),",
    replace:
      "encode(sha256(convert_to((convert_from(o.event_bytes, 'UTF8')::jsonb)::text, 'UTF8')), 'hex'), 'DATABASE_PLAIN', convert_to((convert_from(o.event_bytes, 'UTF8')::jsonb)::text, 'UTF8'), octet_length(convert_to((convert_from(o.event_bytes, 'UTF8')::jsonb)::text, 'UTF8')),",
    test: `${CAPTURE}/load-failure.int.test.ts`,
    title: "ER-PAY-03 bytes that JSONB would reorder",
  },
  {
    id: "ER-PAY-02",
    removes: "the recomputed digest",
    file: `${CAPTURE}/load-failure.ts`,
    find: 'return sha256Hex(row.payload_plain) === row.payload_digest ? null : "PAYLOAD_DIGEST_MISMATCH";',
    replace: "return null;",
    test: `${CAPTURE}/load-failure.int.test.ts`,
    title: "ER-PAY-07 one flipped stored byte",
  },
];
