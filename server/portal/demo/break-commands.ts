import type { Command } from "@/server/event-replay/append/append-command";
import { newId } from "@/server/platform/ids";
import type { Known } from "./repository";
import { administratorOf, asCommand, type Change, event } from "./sample";

/** What there is to change: aggregates of each type, none of them held by a failure. */
export type Stock = {
  readonly properties: readonly Known[];
  readonly configs: readonly Known[];
  readonly roles: readonly Known[];
  readonly users: readonly Known[];
  readonly tables: readonly Known[];
  readonly values: readonly Known[];
};

/** How many aggregates of each type a burst changes. */
export const STOCK_SIZE = { properties: 12, configs: 4, roles: 5, users: 4, tables: 5, values: 6 } as const;

/**
 * A busy half hour of a portal in the order in which it happens. Under the defect property updates and role grants fail, whole
 * transactions with them; later changes of the same aggregates then miss a version. Two user updates carry a user type no
 * table admits: bad data, which stays bad when the defect is gone. Everything else projects as ever.
 */
export function breakCommands(hostId: string, stock: Stock): Command[] {
  const transactions = interleave([
    propertyUpdates(stock),
    release(stock),
    grants(hostId, stock),
    onboarding(hostId, stock),
    badData(stock),
    unrelated(hostId, stock),
  ]);
  return transactions.map((changes) => asCommand(hostId, administratorOf(hostId), changes));
}

function update(type: string, { aggregateId, data }: Known, changed: Change["data"]): Change {
  const { aggregateVersion: _seen, newAggregateVersion: _next, ...rest } = data;
  return event(type, "Updated", aggregateId, { ...rest, ...changed });
}

/** Single updates; some properties are changed again, twice even, before anyone notices. */
function propertyUpdates({ properties }: Stock): Change[][] {
  const [first, second, third, ...rest] = properties.slice(0, 8);
  const changes = [first, second, third, ...rest, first, second, first]
    .filter((property) => property !== undefined)
    .map((property, i) => [
      update("ConfigProperty", property, { propertyValue: String(30 + i * 5), valueType: "integer" }),
    ]);
  return changes;
}

/** Releases that change a configuration together with its properties: they fail whole, and so does the next change. */
function release({ configs, properties }: Stock): Change[][] {
  const [first, second] = configs;
  const members = properties.slice(8);
  if (!first || !second) return [];
  return [
    [
      update("Config", first, { light4jVersion: "2.3.5" }),
      ...members.slice(0, 2).map((property) => update("ConfigProperty", property, { light4jVersion: "2.3.5" })),
    ],
    [
      update("Config", second, { light4jVersion: "2.3.5" }),
      ...members.slice(2).map((property) => update("ConfigProperty", property, { light4jVersion: "2.3.5" })),
    ],
    [update("Config", first, { configDesc: "Checked after the release" })],
  ];
}

function grants(hostId: string, { roles }: Stock): Change[][] {
  return roles.slice(0, 3).flatMap((role, i) => {
    const userId = newId();
    const id = `${role.aggregateId}|${userId}`;
    const deputy = { hostId, roleId: role.aggregateId, userId };
    const created = [event("RoleUser", "Created", id, deputy)];
    return i === 0
      ? [created, [event("RoleUser", "Updated", id, { ...deputy, endTs: "2031-01-01T00:00:00Z" })]]
      : [created];
  });
}

/** A person and their first role in one transaction, and a later change of that person. */
function onboarding(hostId: string, { roles }: Stock): Change[][] {
  const role = roles[0]?.aggregateId;
  if (role === undefined) return [];
  const userId = newId();
  const person = {
    hostId,
    userId,
    email: `new.colleague.${userId.slice(-8)}@acme.example`,
    entityId: `P-${userId.slice(-6)}`,
    userType: "E",
    language: "en",
    firstName: "Lena",
    lastName: "Novak",
  };
  return [
    [
      event("User", "Onboarded", userId, { ...person, verified: true, locked: false }),
      event("RoleUser", "Created", `${role}|${userId}`, { hostId, roleId: role, userId }),
    ],
    [event("User", "Updated", userId, { ...person, phoneNumber: "+47 22 00 11 22" })],
  ];
}

function badData({ users }: Stock): Change[][] {
  return users.slice(0, 2).map(({ aggregateId, data }) => {
    const { hostId, email, userId, entityId, language, firstName, lastName } = data;
    const person = { hostId, email, userId, entityId, language, firstName, lastName, userType: "V", city: "Bergen" };
    return [event("User", "Updated", aggregateId, person)];
  });
}

function unrelated(hostId: string, { roles, tables, values }: Stock): Change[][] {
  const newRole = `seasonal-agent-${newId().slice(-6)}`;
  const added = tables.slice(0, 3).map((table, i) => {
    const valueId = newId();
    const valueCode = `NEW-${valueId.slice(-6)}`;
    const value = { valueId, tableId: table.aggregateId, valueCode, displayOrder: 900 + i, active: true };
    return [
      event("RefValue", "Created", valueId, value),
      event("RefLocale", "Created", `${valueId}|en`, { valueId, language: "en", valueLabel: "Newly added" }),
    ];
  });
  return [
    ...tables.map((table) => [update("RefTable", table, { tableDesc: "Reviewed this quarter" })]),
    ...added,
    ...values.map((value, i) => [update("RefValue", value, { displayOrder: 10 * (i + 1) })]),
    ...roles.slice(2).map((role) => [update("Role", role, { hostId, roleDesc: "Reviewed this quarter" })]),
    [event("Role", "Created", newRole, { hostId, roleId: newRole, roleDesc: "Helps out in the storm season" })],
  ];
}

/** Takes from the lists in turn, so that failing and unrelated work mix; each list keeps its own order. */
function interleave<T>(lists: readonly (readonly T[])[]): T[] {
  const mixed: T[] = [];
  for (let i = 0; lists.some((list) => i < list.length); i++) {
    for (const list of lists) if (i < list.length) mixed.push(list[i] as T);
  }
  return mixed;
}
