import fc from "fast-check";
import { expect, test } from "vitest";
import { ENTRIES, RENAMED_REPAIR, registryOf } from "../registry-fixture";
import { validateExclusions } from "./exclusions";
import { checkReferencedVersions, qualifyHandlers, type VersionReference } from "./gates";
import { buildRegistries } from "./registry";

const WITHOUT_REPAIR = { entries: ENTRIES.slice(3), repairSchemas: new Map() };

const REFERENCES: VersionReference[] = [
  { kind: "REGISTRY", registryVersion: "v2" },
  { kind: "REPAIR_SCHEMA", registryVersion: "v2", repairSchemaVersion: RENAMED_REPAIR.version },
  { kind: "REPAIR_SCHEMA", registryVersion: null, repairSchemaVersion: RENAMED_REPAIR.version },
  { kind: "EVENT_TYPE", registryVersion: "v2", eventType: "AccountOpenedEvent", schemaVersion: "1" },
];

test("ER-APP-24 removing a referenced registry version, repair schema or event type is refused by name", () => {
  const kept = buildRegistries(registryOf({ version: "v3", ...WITHOUT_REPAIR }), [registryOf({ version: "v2" })]);
  expect(checkReferencedVersions(kept, REFERENCES)).toEqual([]);
  const removed = buildRegistries(registryOf({ version: "v3", ...WITHOUT_REPAIR }), []);
  expect(checkReferencedVersions(removed, REFERENCES)).toEqual(REFERENCES);
  const hollowed = buildRegistries(registryOf({ version: "v2", ...WITHOUT_REPAIR }), []);
  expect(checkReferencedVersions(hollowed, REFERENCES)).toEqual(REFERENCES.slice(1));
});

test("ER-APP-25 a version added beside the others never breaks a reference and leaves the old one unchanged", () => {
  const references = fc.subarray(REFERENCES);
  fc.assert(
    fc.property(references, fc.boolean(), (chosen, hollow) => {
      const old = registryOf({ version: "v2", ...(hollow ? WITHOUT_REPAIR : {}) });
      const before = checkReferencedVersions(buildRegistries(old, []), chosen);
      const after = checkReferencedVersions(buildRegistries(registryOf({ version: "v3" }), [old]), chosen);
      expect(before).toEqual(expect.arrayContaining([...after]));
      expect(buildRegistries(registryOf({ version: "v3" }), [old]).version("v2")).toBe(old);
    }),
  );
});

test("ER-APP-30 a handler without an entry for its exact key or an exact exclusion doesn't qualify", () => {
  const registry = registryOf();
  const keys = ENTRIES.map(({ eventType, schemaVersion }) => ({ eventType, schemaVersion }));
  expect(qualifyHandlers(registry, keys, new Set())).toEqual([]);
  const other = { eventType: "AccountOpenedEvent", schemaVersion: "2" };
  const unknown = { eventType: "AccountClosedEvent", schemaVersion: "1" };
  expect(qualifyHandlers(registry, [...keys, other, unknown], new Set())).toEqual([other, unknown]);
  expect(qualifyHandlers(registry, [unknown], new Set(["AccountClosedEvent"]))).toEqual([]);
  expect(qualifyHandlers(registry, [unknown], new Set(["Account", "AccountClosedEvent "]))).toEqual([unknown]);
});

test("ER-APP-47 an exclusion is one exact registered name; patterns, prefixes and unknown names refuse the whole list", () => {
  const registry = registryOf();
  expect(validateExclusions(registry, ["MailSentEvent", "NoteAddedEvent"])).toEqual({
    ok: true,
    excluded: new Set(["MailSentEvent", "NoteAddedEvent"]),
  });
  for (const name of [
    "*",
    "Mail*",
    "Mail.*Event$",
    "MailSent?",
    "",
    " MailSentEvent",
    "MailSentEvent\n",
    "/Mail/",
    "Mail%",
    7,
    null,
  ]) {
    expect(validateExclusions(registry, ["NoteAddedEvent", name])).toEqual({
      ok: false,
      defects: [{ index: 1, rule: "NOT_AN_EXACT_NAME" }],
    });
  }
  for (const name of ["MailSent", "mailsentevent", "MailSentEvents"]) {
    expect(validateExclusions(registry, [name])).toEqual({
      ok: false,
      defects: [{ index: 0, rule: "UNKNOWN_EVENT_TYPE" }],
    });
  }
  expect(validateExclusions(registry, ["MailSentEvent", "MailSentEvent"]).ok).toBe(false);
});

test("ER-EXE-13 an ordered event type can't be excluded, under any of its schema versions", () => {
  for (const name of ["AccountOpenedEvent", "GraphChangedEvent", "NodeChangedEvent"]) {
    expect(validateExclusions(registryOf(), [name])).toEqual({
      ok: false,
      defects: [{ index: 0, rule: "ORDERED_EVENT_TYPE" }],
    });
  }
  const note = ENTRIES.find(({ eventType }) => eventType === "NoteAddedEvent")!;
  const opened = ENTRIES[0]!;
  const mixed = registryOf({ entries: [note, { ...opened, eventType: "NoteAddedEvent", schemaVersion: "2" }] });
  expect(validateExclusions(mixed, ["NoteAddedEvent"]).ok).toBe(false);
});
