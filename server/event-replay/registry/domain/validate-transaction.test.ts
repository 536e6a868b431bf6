import fc from "fast-check";
import { expect, test } from "vitest";
import {
  ENTRIES,
  envelopeOf,
  eventAttributes,
  eventId,
  HOST,
  membersOf,
  noteAttributes,
  policyEntry,
  ROOT,
  refusalOf,
  registryOf,
  transactionOf,
  USER,
} from "../registry-fixture";
import { APPEND_LIMITS } from "./limits";
import { VALIDATION_STAGES, validateTransaction } from "./validate-transaction";

const REGISTRY = registryOf();
const OTHER_UUID = "01964b05-0000-7000-8000-00000000abcd";

/** The refusals of a transaction of these events. */
function judge(...events: Readonly<Record<string, unknown>>[]) {
  return refusalOf(REGISTRY, transactionOf(membersOf(events)));
}

/** `count` events of one aggregate, versions from `from`. */
function chain(count: number, from = 1) {
  return Array.from({ length: count }, (_, index) =>
    eventAttributes({ id: eventId(index + 1), aggregateversion: from + index }),
  );
}

test("ER-APP-01 the transaction id is a canonical UUID and its absence or any other spelling is refused", () => {
  const members = membersOf(chain(1));
  expect(refusalOf(REGISTRY, transactionOf(members, { transactionId: null }))?.rules).toEqual([
    "/transactionid REQUIRED",
  ]);
  const spellings = [
    "",
    "x",
    HOST.toUpperCase(),
    `{${HOST}}`,
    HOST.replaceAll("-", ""),
    ` ${HOST}`,
    `${HOST}\n`,
    `urn:uuid:${HOST}`,
  ];
  for (const transactionId of spellings) {
    expect(refusalOf(REGISTRY, transactionOf(members, { transactionId }))?.rules).toEqual([
      "/transactionid NOT_A_CANONICAL_UUID",
    ]);
  }
  fc.assert(
    fc.property(fc.uuid(), (transactionId) => {
      expect(refusalOf(REGISTRY, transactionOf(members, { transactionId }))).toBeNull();
    }),
  );
});

test("ER-APP-02 the count is the number of members on every member", () => {
  const counts = fc.array(fc.integer({ min: -1, max: 5 }), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(counts, (declared) => {
      const members = membersOf(chain(declared.length)).map((member, index) => ({
        ...member,
        count: declared[index]!,
      }));
      const wrong = declared.flatMap((count, index) =>
        count === declared.length ? [] : [`${index} /transactioncount TRANSACTION_COUNT_MISMATCH`],
      );
      const refusal = refusalOf(REGISTRY, transactionOf(members));
      expect(refusal).toEqual(wrong.length === 0 ? null : { code: "TRANSACTION_INCOMPLETE", rules: wrong });
    }),
  );
  expect(refusalOf(REGISTRY, transactionOf([]))?.rules).toEqual(["TRANSACTION_EMPTY"]);
});

test("ER-APP-03 ordinals are exactly 0 to count-1: holes, repeats, negatives and overflow are refused", () => {
  const ordinals = fc.array(
    fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom(-1, 2 ** 31, 2 ** 53, 0.5, Number.NaN)),
    { minLength: 1, maxLength: 4 },
  );
  fc.assert(
    fc.property(ordinals, (declared) => {
      const members = membersOf(declared.map((_, index) => noteAttributes({ id: eventId(index + 1) }))).map(
        (member, index) => ({
          ...member,
          ordinal: declared[index]!,
        }),
      );
      const exact = [...declared].sort((a, b) => a - b).every((ordinal, index) => ordinal === index);
      const verdict = validateTransaction(REGISTRY, transactionOf(members));
      expect(verdict.ok).toBe(exact);
      if (verdict.ok)
        expect(verdict.transaction.members.map(({ ordinal }) => ordinal)).toEqual(declared.map((_, index) => index));
      else expect(verdict.code).toBe("TRANSACTION_INCOMPLETE");
    }),
  );
});

test("ER-APP-04 one host, one user and one transaction identity across all members", () => {
  const [first, second] = chain(2) as [Record<string, unknown>, Record<string, unknown>];
  expect(judge(first, { ...second, host: OTHER_UUID })?.rules).toEqual(["1 /host MIXED_HOST"]);
  expect(judge(first, { ...second, user: OTHER_UUID })?.rules).toEqual(["1 /user MIXED_USER"]);
  expect(judge(first, { ...second, user: undefined })?.rules).toEqual(["1 /user MIXED_USER"]);
  expect(judge(first, { ...second, transactionid: OTHER_UUID })?.rules).toEqual(["1 /transactionid MIXED_TRANSACTION"]);
  expect(judge(first, { ...second, transactionordinal: 0 })?.rules).toEqual([
    "1 /transactionordinal ORDINAL_CONTRADICTION",
  ]);
  expect(judge(first, { ...second, transactioncount: 3 })?.rules).toEqual(["1 /transactioncount COUNT_CONTRADICTION"]);
});

test("ER-APP-04 data.hostId is a business value and may name another host", () => {
  expect(judge(eventAttributes({ data: { accountId: "a-1", hostId: OTHER_UUID } }))).toBeNull();
});

test("ER-APP-05 an event id appears once in its transaction", () => {
  const [first, second] = chain(2) as [Record<string, unknown>, Record<string, unknown>];
  expect(judge(first, { ...second, id: first.id })).toEqual({
    code: "INVALID_REQUEST",
    rules: ["1 /id DUPLICATE_EVENT_ID"],
  });
});

test("ER-APP-11 an aggregate event lacking subject, type or version is refused by what it lacks", () => {
  expect(judge(eventAttributes({ subject: undefined }))?.rules).toEqual(["0 /subject REQUIRED"]);
  expect(judge(eventAttributes({ aggregateversion: undefined }))?.rules).toEqual(["0 /aggregateversion REQUIRED"]);
  expect(judge(eventAttributes({ aggregatetype: undefined }))?.rules).toEqual(["0 /aggregatetype REQUIRED"]);
  expect(judge(eventAttributes({ aggregatetype: "Role" }))?.rules).toEqual([
    "0 /aggregatetype AGGREGATE_TYPE_MISMATCH",
  ]);
});

test("ER-APP-12 a graph event lacking root or revision is refused by what it lacks", () => {
  const graph = { type: "GraphChangedEvent", rootinstanceid: ROOT, instancegraphrevision: 1 };
  expect(judge(noteAttributes(graph))).toBeNull();
  expect(judge(noteAttributes({ ...graph, rootinstanceid: undefined }))?.rules).toEqual(["0 /rootinstanceid REQUIRED"]);
  expect(judge(noteAttributes({ ...graph, instancegraphrevision: undefined }))?.rules).toEqual([
    "0 /instancegraphrevision REQUIRED",
  ]);
  expect(judge(noteAttributes({ ...graph, type: "NodeChangedEvent" }))?.rules).toEqual([
    "0 /subject REQUIRED",
    "0 /aggregateversion REQUIRED",
    "0 /aggregatetype REQUIRED",
  ]);
});

test("ER-APP-36 half of a pair is refused although the other kind of evidence is complete", () => {
  expect(judge(eventAttributes({ rootinstanceid: ROOT }))?.rules).toEqual([
    "0 /rootinstanceid ORDER_METADATA_UNDECLARED",
  ]);
  const graph = noteAttributes({
    type: "GraphChangedEvent",
    rootinstanceid: ROOT,
    instancegraphrevision: 1,
    aggregateversion: 2,
  });
  expect(judge(graph)?.rules).toEqual(["0 AGGREGATE_METADATA_INCOMPLETE"]);
});

test("ER-APP-46 an event declared unordered may carry no ordering metadata", () => {
  expect(judge(noteAttributes({ type: "MailSentEvent" }))).toBeNull();
  for (const type of ["MailSentEvent", "NoteAddedEvent"]) {
    expect(judge(eventAttributes({ type }))?.rules).toEqual(["0 /aggregatetype ORDER_METADATA_UNDECLARED"]);
  }
});

test("ER-APP-13 declared identity fields are present and hold an identity", () => {
  for (const accountId of [undefined, null, "", "  ", [], {}, ["a"]]) {
    expect(judge(eventAttributes({ data: { accountId } }))?.rules).toEqual(["0 /data/accountId IDENTITY_REQUIRED"]);
  }
  for (const accountId of ["a", 0, 7, false]) expect(judge(eventAttributes({ data: { accountId } }))).toBeNull();
  expect(judge(eventAttributes({ data: JSON.parse('{"__proto__":{"accountId":"a"}}') }))?.rules).toEqual([
    "0 /data/accountId IDENTITY_REQUIRED",
  ]);
});

test("ER-APP-15 data is judged by the validator of its exact type and schema version", () => {
  const renamed = (data: unknown) => eventAttributes({ type: "AccountRenamedEvent", data });
  expect(judge(renamed({ accountId: "a-1", name: "ok" }))).toBeNull();
  expect(judge(renamed({ accountId: "a-1", name: "far too long a name" }))?.rules).toEqual(["0 /data/name MAX_LENGTH"]);
  expect(judge(renamed({ accountId: "a-1" }))?.rules).toEqual(["0 /data/name REQUIRED"]);
  expect(judge(eventAttributes({ data: { accountId: "a-1", name: "far too long a name" } }))).toBeNull();
  expect(judge(eventAttributes({ data: "text" }))?.rules).toEqual(["0 /data DATA_NOT_AN_OBJECT"]);
});

test("ER-APP-19 all seven stages reach the same verdict on any transaction", () => {
  expect(VALIDATION_STAGES).toHaveLength(7);
  const change = fc.constantFrom<Record<string, unknown>>(
    {},
    { host: OTHER_UUID },
    { type: "NobodyKnowsEvent" },
    { data: [] },
    { aggregateversion: 9 },
    { user: undefined },
  );
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
      const members = membersOf(chain(changes.length).map((event, index) => ({ ...event, ...changes[index] })));
      const verdicts = VALIDATION_STAGES.map((stage) =>
        validateTransaction(REGISTRY, transactionOf(members, { stage })),
      );
      for (const verdict of verdicts) expect(verdict).toEqual(verdicts[0]);
    }),
  );
});

test("ER-APP-20 a valid transaction carries its pins, canonical payload and digest per member", () => {
  const verdict = validateTransaction(REGISTRY, transactionOf(membersOf([eventAttributes({ aggregateversion: "1" })])));
  expect(verdict.ok).toBe(true);
  if (!verdict.ok) return;
  expect(verdict.transaction).toMatchObject({
    hostId: HOST,
    userId: USER,
    count: 1,
    registryVersion: "event-replay-policy-v2",
  });
  const [member] = verdict.transaction.members;
  expect(member?.pins).toEqual({
    schemaVersion: "1",
    registryVersion: "event-replay-policy-v2",
    repairSchema: null,
    versionBaseline: false,
  });
  expect(member?.payload.toString()).toContain('"replaypolicy":"event-replay-policy-v2"');
  expect(judge(eventAttributes({ replaypolicy: "event-replay-policy-v9" }))?.rules).toEqual([
    "0 /replaypolicy PIN_CONTRADICTS_REGISTRY",
  ]);
});

test("ER-APP-20 a source's own bytes stay the payload, byte for byte", () => {
  const payload = Buffer.from(` ${JSON.stringify(eventAttributes())} `);
  const member = { envelope: envelopeOf(eventAttributes()), ordinal: 0, count: 1, payload };
  const verdict = validateTransaction(REGISTRY, transactionOf([member], { stage: "EXTERNAL_SOURCE" }));
  expect(verdict.ok && verdict.transaction.members[0]?.payload).toBe(payload);
});

test("ER-APP-23 an event is judged under the version it is pinned to, not under the newest", () => {
  const newer = registryOf({
    version: "v3",
    entries: [policyEntry("AccountOpenedEvent", { identityFields: ["key"] })],
  });
  const unpinned = transactionOf(membersOf([eventAttributes()]));
  expect(refusalOf(REGISTRY, unpinned)).toBeNull();
  expect(refusalOf(newer, unpinned)?.rules).toEqual(["0 /data/key IDENTITY_REQUIRED"]);
  const pinned = transactionOf(
    membersOf([eventAttributes({ replaypolicy: REGISTRY.version, data: { accountId: "a-1", key: "k" } })]),
  );
  expect(refusalOf(REGISTRY, pinned)).toBeNull();
  expect(refusalOf(newer, pinned)?.rules).toEqual(["0 /replaypolicy PIN_CONTRADICTS_REGISTRY"]);
});

test("ER-APP-26 an unknown event type or schema version is refused", () => {
  expect(judge(eventAttributes({ type: "AccountClosedEvent" }))).toEqual({
    code: "UNSUPPORTED_EVENT_TYPE",
    rules: ["0 /type UNKNOWN_EVENT_TYPE"],
  });
  expect(judge(eventAttributes({ eventschema: "2" }))).toEqual({
    code: "UNSUPPORTED_EVENT_TYPE",
    rules: ["0 /type UNKNOWN_EVENT_TYPE"],
  });
});

test("ER-APP-27 an unknown external event is never judged by a default: it has no entry, scopes or payload", () => {
  const members = membersOf([eventAttributes({ type: "ForeignEvent" })]);
  const verdict = validateTransaction(
    REGISTRY,
    transactionOf(members, { stage: "EXTERNAL_SOURCE", acceptVersionBaseline: true }),
  );
  expect(verdict).toEqual({
    ok: false,
    code: "UNSUPPORTED_EVENT_TYPE",
    errors: [{ field: "/type", rule: "UNKNOWN_EVENT_TYPE", member: 0 }],
  });
});

test("ER-APP-38 versions of an aggregate rise by one inside a transaction, whatever order members are listed in", () => {
  const versions = fc.array(fc.tuple(fc.constantFrom("a", "b"), fc.integer({ min: 1, max: 3 })), {
    minLength: 1,
    maxLength: 4,
  });
  fc.assert(
    fc.property(versions, fc.boolean(), (steps, reversed) => {
      const events = steps.map(([subject, version], index) =>
        eventAttributes({ id: eventId(index + 1), subject, aggregateversion: version }),
      );
      const last = new Map<string, number>();
      const contiguous = steps.every(([subject, version]) => {
        const before = last.get(subject);
        last.set(subject, version);
        return before === undefined || version === before + 1;
      });
      const members = membersOf(events);
      const refusal = refusalOf(REGISTRY, transactionOf(reversed ? members.reverse() : members));
      expect(refusal === null).toBe(contiguous);
      if (refusal)
        expect(refusal.rules.every((rule) => rule.endsWith("/aggregateversion VERSION_NOT_CONTIGUOUS"))).toBe(true);
    }),
  );
});

test("ER-APP-38 a root's revision stays or rises by one inside a transaction and never skips or falls", () => {
  const graph = (...revisions: number[]) =>
    judge(
      ...revisions.map((instancegraphrevision, index) =>
        noteAttributes({
          id: eventId(index + 1),
          type: "GraphChangedEvent",
          rootinstanceid: ROOT,
          instancegraphrevision,
        }),
      ),
    );
  expect(graph(4, 4, 5)).toBeNull();
  expect(graph(4, 6)?.rules).toEqual(["1 /instancegraphrevision REVISION_NOT_CONTIGUOUS"]);
  expect(graph(4, 3)?.rules).toEqual(["1 /instancegraphrevision REVISION_NOT_CONTIGUOUS"]);
});

test("ER-APP-38 a baseline is declared by its aggregate's first event of a transaction alone, and never by an event without one", () => {
  const rules = (...events: Readonly<Record<string, unknown>>[]) => {
    const members = membersOf(events.map((event, index) => ({ ...event, id: eventId(index + 1) })));
    return refusalOf(REGISTRY, transactionOf(members, { acceptVersionBaseline: true }))?.rules;
  };
  const at = (aggregateversion: number, versionbaseline = false) =>
    eventAttributes({ aggregateversion, versionbaseline });
  const graph = (instancegraphrevision: number, versionbaseline: boolean) =>
    noteAttributes({ type: "GraphChangedEvent", rootinstanceid: ROOT, instancegraphrevision, versionbaseline });
  expect(rules(at(5, true), at(6))).toBeUndefined();
  expect(rules(at(1), at(2, true))).toEqual(["1 /versionbaseline BASELINE_NOT_FIRST"]);
  expect(rules(at(1), at(5, true))).toEqual([
    "1 /versionbaseline BASELINE_NOT_FIRST",
    "1 /aggregateversion VERSION_NOT_CONTIGUOUS",
  ]);
  expect(rules(graph(4, true))).toEqual(["0 /versionbaseline BASELINE_WITHOUT_AGGREGATE"]);
  expect(rules(graph(4, false), graph(9, true))).toContain("1 /instancegraphrevision REVISION_NOT_CONTIGUOUS");
});

test("ER-APP-38 only an import may declare a baseline", () => {
  const members = membersOf([eventAttributes({ aggregateversion: 7, versionbaseline: true })]);
  expect(refusalOf(REGISTRY, transactionOf(members))?.rules).toEqual(["0 /versionbaseline BASELINE_ONLY_BY_IMPORT"]);
  const verdict = validateTransaction(REGISTRY, transactionOf(members, { acceptVersionBaseline: true }));
  expect(verdict.ok && verdict.transaction.members[0]?.pins.versionBaseline).toBe(true);
});

test("ER-APP-48 a payload is refused from the first byte above its limit, a transaction likewise", () => {
  const events = chain(2);
  const verdict = validateTransaction(REGISTRY, transactionOf(membersOf(events)));
  const size = verdict.ok ? verdict.transaction.members[0]!.payload.length : 0;
  const limited = (payloadBytes: number, transactionBytes: number) => {
    const outcome = validateTransaction(REGISTRY, transactionOf(membersOf(events)), {
      ...APPEND_LIMITS,
      payloadBytes,
      transactionBytes,
    });
    return outcome.ok ? [] : [outcome.code, ...outcome.errors.map(({ rule }) => rule)];
  };
  expect(limited(size, 2 * size)).toEqual([]);
  expect(limited(size - 1, 2 * size)).toEqual(["REPLAY_LIMIT_EXCEEDED", "PAYLOAD_TOO_LARGE", "PAYLOAD_TOO_LARGE"]);
  expect(limited(size, 2 * size - 1)).toEqual(["REPLAY_LIMIT_EXCEEDED", "TRANSACTION_TOO_LARGE"]);
});

test("ER-APP-48 the shipped limits are 4 MiB a payload and 16 MiB a transaction", () => {
  expect(APPEND_LIMITS).toMatchObject({ payloadBytes: 4_194_304, transactionBytes: 16_777_216 });
  const large = eventAttributes({ data: { accountId: "a-1", text: "x".repeat(4_194_304) } });
  expect(judge(large)).toEqual({ code: "REPLAY_LIMIT_EXCEEDED", rules: ["0 PAYLOAD_TOO_LARGE"] });
});

test("ER-APP-15 refusals are bounded, name member, field and rule, and never hold a value", () => {
  const secret = "s3cret-value";
  const events = Array.from({ length: 60 }, (_, index) =>
    eventAttributes({
      id: eventId(1),
      type: `${secret}Event`,
      subject: secret,
      data: { accountId: secret, [`m${index}`]: secret },
    }),
  );
  const verdict = validateTransaction(REGISTRY, transactionOf(membersOf(events)));
  expect(verdict.ok).toBe(false);
  if (verdict.ok) return;
  expect(verdict.code).toBe("INVALID_REQUEST");
  expect(verdict.errors).toHaveLength(50);
  expect(JSON.stringify(verdict)).not.toContain(secret);
  expect(ENTRIES).not.toHaveLength(0);
});
