import type { Mutant } from "@/server/cli/mutants/mutant";

const PROJECTION = "server/event-replay/projection";
const LIVE = "server/event-replay/live";
const EXECUTION = "server/event-replay/execution";

/** Barriers, parked live work and its drain. */
export const mutants: readonly Mutant[] = [
  {
    id: "ER-ISO-02",
    removes: "scopes are locked in canonical order",
    file: `${PROJECTION}/scope-board.ts`,
    find: "loadStandings(tx, definition, [...scopes.values()].sort(compareHostScopes))",
    replace: "loadStandings(tx, definition, [...scopes.values()])",
    test: `${EXECUTION}/barriers.int.test.ts`,
    title: "ER-ISO-02 all scopes of transactions are locked in canonical order",
  },
  {
    id: "ER-ISO-02",
    removes: "an install gets all scopes or none",
    file: `${EXECUTION}/barriers.ts`,
    find: "  if (held) return held;\n",
    replace: "",
    test: `${EXECUTION}/barriers.int.test.ts`,
    title: "ER-ISO-02 two opposing cross-scope plans never deadlock",
  },
  {
    id: "ER-ISO-05",
    removes: "parked bytes are the source's own",
    file: `${PROJECTION}/parking-repository.ts`,
    find: "int4send(octet_length(o.event_bytes)) || o.event_bytes, ''::bytea",
    replace:
      "int4send(octet_length(convert_to((convert_from(o.event_bytes, 'UTF8')::jsonb)::text, 'UTF8'))) || convert_to((convert_from(o.event_bytes, 'UTF8')::jsonb)::text, 'UTF8'), ''::bytea",
    test: `${LIVE}/parking.int.test.ts`,
    title: "ER-ISO-05 parked bytes are exactly the source's",
  },
  {
    id: "ER-ISO-05",
    removes: "parking is in the commit that moves the source",
    file: `${LIVE}/project-batch.ts`,
    find: "  await insertParked(tx, definition, waiting);\n",
    replace: "",
    test: `${LIVE}/parking.int.test.ts`,
    title: "ER-ISO-05 parked work, its barrier rows and the source's position are one commit",
  },
  {
    id: "ER-ISO-07",
    removes: "parked work drains in source order",
    file: `${EXECUTION}/parked-repository.ts`,
    find: "ORDER BY d.source_order_key LIMIT 1) c",
    replace: "ORDER BY d.source_order_key DESC LIMIT 1) c",
    test: `${EXECUTION}/drain.int.test.ts`,
    title: "ER-ISO-07 parked work drains in source order",
  },
  {
    id: "ER-ISO-07",
    removes: "what follows a parked transaction on its other scopes queues behind it",
    file: `${PROJECTION}/domain/parking.ts`,
    find: "    for (const id of ids) board.set(id, barriers);\n",
    replace: "",
    test: `${PROJECTION}/domain/parking.test.ts`,
    title: "ER-ISO-07 a parked transaction waits for at least all",
  },
  {
    id: "ER-ISO-07",
    removes: "release waits for live work and looks again",
    file: `${EXECUTION}/barriers.ts`,
    find: "  await pausePartition(tx, request.projection, request.partitionId, request.waitMs);\n  const barriers = await lockDrainingBarriers(tx, request);\n",
    replace: "  const barriers = await lockDrainingBarriers(tx, request);\n",
    test: `${EXECUTION}/barriers.int.test.ts`,
    title: "ER-ISO-07 a live batch that parks while the release waits",
  },
  {
    id: "ER-ISO-25",
    removes: "live work shares the partition's lock with the installer",
    file: `${EXECUTION}/partition-lock.ts`,
    find: "SELECT pg_advisory_xact_lock($1::bigint)",
    replace: "SELECT pg_advisory_xact_lock_shared($1::bigint)",
    test: `${EXECUTION}/barriers.int.test.ts`,
    title: "ER-ISO-25 a live writer that begins while the barrier is being installed",
  },
];
