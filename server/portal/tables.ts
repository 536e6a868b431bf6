import type { ColumnType, ProjectionTable } from "@/server/event-replay/projection/domain/types";

/** A projection table of one aggregate type, and where each of its columns comes from in the event's data. */
export type AggregateTable = {
  readonly aggregateType: string;
  readonly table: ProjectionTable;
  /** Members of `data` behind the key's columns after host_id, in key order. */
  readonly keyMembers: readonly string[];
  /** Members of `data` → columns, without the key. Members that are not named here (secrets among them) are not projected. */
  readonly columns: Readonly<Record<string, string>>;
  /** Values of a new row's members that its Created event leaves out; the others are null. */
  readonly defaults: Readonly<Record<string, string | number | boolean>>;
};

type Members = Readonly<Record<string, ColumnType>>;
type Parent = ProjectionTable["parents"][number];
type Options = {
  readonly parents?: readonly Parent[];
  readonly otherUnique?: true;
  readonly defaults?: AggregateTable["defaults"];
};

/** Column of a data member. `data.hostId` is a business value; the row's `host_id` is always the envelope's host. */
export function columnOf(member: string): string {
  return member === "hostId" ? "data_host_id" : member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function table(
  aggregateType: string,
  name: string,
  key: Members,
  members: Members,
  options: Options = {},
): AggregateTable {
  const all = { ...key, ...members };
  return {
    aggregateType,
    keyMembers: Object.keys(key),
    columns: Object.fromEntries(Object.keys(members).map((member) => [member, columnOf(member)])),
    defaults: options.defaults ?? {},
    table: {
      name,
      columns: {
        host_id: "uuid",
        ...Object.fromEntries(Object.entries(all).map(([member, type]) => [columnOf(member), type])),
        aggregate_version: "bigint",
        update_user: "uuid",
        update_ts: "timestamptz",
      },
      key: ["host_id", ...Object.keys(key).map(columnOf)],
      parents: options.parents ?? [],
      ...(options.otherUnique && { otherUnique: true }),
      versionColumn: "aggregate_version",
    },
  };
}

const parent = (name: string, ...columns: string[]): Parent => ({ table: name, columns: ["host_id", ...columns] });
const perHost: Members = { hostId: "uuid" };
const ofHost = (name: string, ...columns: string[]) => parent(name, "data_host_id", ...columns);

/**
 * The aggregate types that have a table of their own. `drizzle/schema/portal.ts` holds lengths, nullability and checks; a test
 * compares columns, keys and foreign keys with the database. Secrets (passwords, tokens, client secrets, private keys) have
 * no column anywhere.
 */
export const AGGREGATE_TABLES: readonly AggregateTable[] = [
  table(
    "User",
    "user_t",
    { userId: "text" },
    {
      email: "text",
      entityId: "text",
      userType: "text",
      referralId: "text",
      managerId: "text",
      language: "text",
      firstName: "text",
      lastName: "text",
      phoneNumber: "text",
      gender: "text",
      birthday: "date",
      country: "text",
      province: "text",
      city: "text",
      postCode: "text",
      address: "text",
      verified: "boolean",
      locked: "boolean",
    },
    { otherUnique: true, defaults: { verified: false, locked: false } },
  ),
  table("Org", "org_t", { domain: "text" }, { orgName: "text", orgDesc: "text", orgOwner: "text" }),
  table(
    "Host",
    "host_t",
    perHost,
    { domain: "text", subDomain: "text", hostDesc: "text", hostOwner: "text" },
    {
      parents: [parent("org_t", "domain")],
    },
  ),
  table("Role", "role_t", { ...perHost, roleId: "text" }, { roleDesc: "text" }),
  table(
    "RoleUser",
    "role_user_t",
    { ...perHost, roleId: "text", userId: "text" },
    { startTs: "timestamptz", endTs: "timestamptz" },
    {
      parents: [ofHost("role_t", "role_id")],
    },
  ),
  table(
    "UserHost",
    "user_host_t",
    { userId: "text", ...perHost },
    { current: "boolean" },
    {
      parents: [parent("user_t", "user_id"), parent("host_t", "data_host_id")],
      defaults: { current: false },
    },
  ),
  table(
    "Config",
    "config_t",
    { configId: "uuid" },
    {
      configName: "text",
      configPhase: "text",
      configType: "text",
      light4jVersion: "text",
      classPath: "text",
      configDesc: "text",
    },
  ),
  table(
    "ConfigProperty",
    "config_property_t",
    { propertyId: "uuid" },
    {
      configId: "uuid",
      propertyName: "text",
      propertyType: "text",
      light4jVersion: "text",
      displayOrder: "integer",
      required: "boolean",
      propertyDesc: "text",
      propertyValue: "text",
      valueType: "text",
      resourceType: "text",
      active: "boolean",
    },
    { parents: [parent("config_t", "config_id")], defaults: { required: false, active: true } },
  ),
  table(
    "RefTable",
    "ref_table_t",
    { tableId: "uuid" },
    { hostId: "uuid", tableName: "text", tableDesc: "text", active: "boolean", editable: "boolean" },
    { defaults: { active: true, editable: true } },
  ),
  table(
    "RefValue",
    "ref_value_t",
    { valueId: "uuid" },
    { tableId: "uuid", valueCode: "text", valueDesc: "text", displayOrder: "integer", active: "boolean" },
    { parents: [parent("ref_table_t", "table_id")], defaults: { active: true } },
  ),
  table(
    "RefLocale",
    "ref_locale_t",
    { valueId: "uuid", language: "text" },
    { valueLabel: "text" },
    {
      parents: [parent("ref_value_t", "value_id")],
    },
  ),
  table(
    "RefRelationType",
    "ref_relation_type_t",
    { relationId: "uuid" },
    { relationName: "text", relationDesc: "text" },
  ),
  table(
    "RefRelation",
    "ref_relation_t",
    { relationId: "uuid", valueIdFrom: "uuid", valueIdTo: "uuid" },
    { active: "boolean" },
    {
      parents: [
        parent("ref_relation_type_t", "relation_id"),
        parent("ref_value_t", "value_id_from"),
        parent("ref_value_t", "value_id_to"),
      ],
      defaults: { active: true },
    },
  ),
  table(
    "Api",
    "api_t",
    { ...perHost, apiId: "text" },
    {
      apiName: "text",
      apiDesc: "text",
      operationOwner: "text",
      deliveryOwner: "text",
      region: "text",
      businessGroup: "text",
      lob: "text",
      platform: "text",
      capability: "text",
      apiTags: "text",
      apiStatus: "text",
    },
  ),
  table(
    "ApiVersion",
    "api_version_t",
    { ...perHost, apiVersionId: "uuid" },
    {
      apiId: "text",
      apiVersion: "text",
      apiType: "text",
      serviceId: "text",
      apiVersionDesc: "text",
      spec: "text",
      endpoints: "jsonb",
    },
    { parents: [ofHost("api_t", "api_id")] },
  ),
  table(
    "App",
    "app_t",
    { ...perHost, appId: "text" },
    {
      appName: "text",
      appDesc: "text",
      operationOwner: "text",
      deliveryOwner: "text",
    },
  ),
  table(
    "Client",
    "client_t",
    { ...perHost, clientId: "uuid" },
    {
      appId: "text",
      clientName: "text",
      clientType: "text",
      clientProfile: "text",
      clientScope: "text",
      redirectUri: "text",
      authenticateClass: "text",
      tokenExType: "text",
    },
    { parents: [ofHost("app_t", "app_id")] },
  ),
  table(
    "AuthProvider",
    "auth_provider_t",
    { ...perHost, providerId: "text" },
    {
      providerName: "text",
      providerDesc: "text",
      operationOwner: "text",
      deliveryOwner: "text",
      jwk: "text",
    },
  ),
  table(
    "AuthProviderClient",
    "auth_provider_client_t",
    { ...perHost, providerId: "text", clientId: "uuid" },
    {},
    {
      parents: [ofHost("auth_provider_t", "provider_id"), ofHost("client_t", "client_id")],
    },
  ),
];

/** Every aggregate type without a table of its own: its latest data as one document, without secrets. */
export const ENTITY_TABLE: ProjectionTable = {
  name: "portal_entity_t",
  columns: {
    host_id: "uuid",
    aggregate_type: "text",
    entity_id: "text",
    data: "jsonb",
    aggregate_version: "bigint",
    update_user: "uuid",
    update_ts: "timestamptz",
  },
  key: ["host_id", "aggregate_type", "entity_id"],
  parents: [],
  versionColumn: "aggregate_version",
};

/** Events that belong to no aggregate: one row each, never changed. */
export const RECORD_TABLE: ProjectionTable = {
  name: "portal_record_t",
  columns: {
    host_id: "uuid",
    event_id: "uuid",
    event_type: "text",
    data: "jsonb",
    record_user: "uuid",
    record_ts: "timestamptz",
  },
  key: ["host_id", "event_id"],
  parents: [],
};

export const PORTAL_TABLES: ReadonlyMap<string, ProjectionTable> = new Map(
  [...AGGREGATE_TABLES.map((aggregate) => aggregate.table), ENTITY_TABLE, RECORD_TABLE].map((t) => [t.name, t]),
);
