import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  check,
  date,
  foreignKey,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  timestamp,
  unique,
  uuid,
  varchar,
} from "drizzle-orm/pg-core";

/**
 * Projection tables of the example domain. Only the projection executor writes them, from events; they can be dropped and
 * projected again. `host_id` is the tenant (the envelope's host), `data_host_id` the business value `data.hostId`, which may
 * name another host. `update_ts` is the event's time, `aggregate_version` the version of the last writer: no column depends
 * on when the projection ran. Columns that an update event may leave out are nullable, because a multi-row write proposes the
 * whole row before it meets the existing one. No column holds a secret.
 */
const tenant = () => uuid("host_id").notNull();
const dataHost = () => uuid("data_host_id").notNull();
const written = () => ({
  aggregateVersion: bigint("aggregate_version", { mode: "number" }).notNull(),
  updateUser: uuid("update_user"),
  updateTs: timestamp("update_ts", { withTimezone: true }).notNull(),
});

/** One person of the portal. `user_type` is C (customer) or E (employee). Unique e-mail within a host. */
export const userT = pgTable(
  "user_t",
  {
    hostId: tenant(),
    userId: varchar("user_id", { length: 255 }).notNull(),
    email: varchar("email", { length: 255 }).notNull(),
    entityId: varchar("entity_id", { length: 255 }).notNull(),
    userType: varchar("user_type", { length: 16 }).notNull(),
    referralId: varchar("referral_id", { length: 320 }),
    managerId: varchar("manager_id", { length: 320 }),
    language: varchar("language", { length: 16 }).notNull(),
    firstName: varchar("first_name", { length: 255 }),
    lastName: varchar("last_name", { length: 255 }),
    phoneNumber: varchar("phone_number", { length: 64 }),
    gender: varchar("gender", { length: 32 }),
    birthday: date("birthday"),
    country: varchar("country", { length: 128 }),
    province: varchar("province", { length: 128 }),
    city: varchar("city", { length: 128 }),
    postCode: varchar("post_code", { length: 32 }),
    address: varchar("address", { length: 512 }),
    verified: boolean("verified").notNull().default(false),
    locked: boolean("locked").notNull().default(false),
    ...written(),
  },
  (t) => [
    primaryKey({ name: "user_t_pkey", columns: [t.hostId, t.userId] }),
    unique("user_t_email_key").on(t.hostId, t.email),
    check("user_t_user_type_check", sql`${t.userType} in ('C', 'E')`),
  ],
);

export const orgT = pgTable(
  "org_t",
  {
    hostId: tenant(),
    domain: varchar("domain", { length: 255 }).notNull(),
    orgName: varchar("org_name", { length: 255 }),
    orgDesc: varchar("org_desc", { length: 4096 }),
    orgOwner: varchar("org_owner", { length: 255 }),
    ...written(),
  },
  (t) => [primaryKey({ name: "org_t_pkey", columns: [t.hostId, t.domain] })],
);

/** A host of an organisation, as the portal's business data knows it. */
export const hostT = pgTable(
  "host_t",
  {
    hostId: tenant(),
    dataHostId: dataHost(),
    domain: varchar("domain", { length: 255 }),
    subDomain: varchar("sub_domain", { length: 255 }),
    hostDesc: varchar("host_desc", { length: 4096 }),
    hostOwner: varchar("host_owner", { length: 255 }),
    ...written(),
  },
  (t) => [
    primaryKey({ name: "host_t_pkey", columns: [t.hostId, t.dataHostId] }),
    foreignKey({ name: "host_t_org_fkey", columns: [t.hostId, t.domain], foreignColumns: [orgT.hostId, orgT.domain] }),
  ],
);

export const roleT = pgTable(
  "role_t",
  {
    hostId: tenant(),
    dataHostId: dataHost(),
    roleId: varchar("role_id", { length: 255 }).notNull(),
    roleDesc: varchar("role_desc", { length: 1024 }),
    ...written(),
  },
  (t) => [primaryKey({ name: "role_t_pkey", columns: [t.hostId, t.dataHostId, t.roleId] })],
);

/** Which user has which role. No foreign key to users: a portal's first administrator precedes its events. */
export const roleUserT = pgTable(
  "role_user_t",
  {
    hostId: tenant(),
    dataHostId: dataHost(),
    roleId: varchar("role_id", { length: 255 }).notNull(),
    userId: varchar("user_id", { length: 255 }).notNull(),
    startTs: timestamp("start_ts", { withTimezone: true }),
    endTs: timestamp("end_ts", { withTimezone: true }),
    ...written(),
  },
  (t) => [
    primaryKey({ name: "role_user_t_pkey", columns: [t.hostId, t.dataHostId, t.roleId, t.userId] }),
    foreignKey({
      name: "role_user_t_role_fkey",
      columns: [t.hostId, t.dataHostId, t.roleId],
      foreignColumns: [roleT.hostId, roleT.dataHostId, roleT.roleId],
    }),
    check("role_user_t_period_check", sql`${t.startTs} < ${t.endTs}`),
  ],
);

export const userHostT = pgTable(
  "user_host_t",
  {
    hostId: tenant(),
    userId: varchar("user_id", { length: 255 }).notNull(),
    dataHostId: dataHost(),
    current: boolean("current").notNull().default(false),
    ...written(),
  },
  (t) => [
    primaryKey({ name: "user_host_t_pkey", columns: [t.hostId, t.userId, t.dataHostId] }),
    foreignKey({
      name: "user_host_t_user_fkey",
      columns: [t.hostId, t.userId],
      foreignColumns: [userT.hostId, userT.userId],
    }),
    foreignKey({
      name: "user_host_t_host_fkey",
      columns: [t.hostId, t.dataHostId],
      foreignColumns: [hostT.hostId, hostT.dataHostId],
    }),
  ],
);

export const configT = pgTable(
  "config_t",
  {
    hostId: tenant(),
    configId: uuid("config_id").notNull(),
    configName: varchar("config_name", { length: 128 }),
    configPhase: varchar("config_phase", { length: 1 }),
    configType: varchar("config_type", { length: 32 }),
    light4jVersion: varchar("light4j_version", { length: 12 }),
    classPath: varchar("class_path", { length: 1024 }),
    configDesc: varchar("config_desc", { length: 4096 }),
    ...written(),
  },
  (t) => [
    primaryKey({ name: "config_t_pkey", columns: [t.hostId, t.configId] }),
    check("config_t_config_phase_check", sql`${t.configPhase} in ('D', 'R')`),
  ],
);

export const configPropertyT = pgTable(
  "config_property_t",
  {
    hostId: tenant(),
    propertyId: uuid("property_id").notNull(),
    configId: uuid("config_id"),
    propertyName: varchar("property_name", { length: 64 }),
    propertyType: varchar("property_type", { length: 32 }),
    light4jVersion: varchar("light4j_version", { length: 12 }),
    displayOrder: integer("display_order"),
    required: boolean("required").notNull().default(false),
    propertyDesc: varchar("property_desc", { length: 4096 }),
    propertyValue: text("property_value"),
    valueType: varchar("value_type", { length: 32 }),
    resourceType: varchar("resource_type", { length: 32 }),
    active: boolean("active").notNull().default(true),
    ...written(),
  },
  (t) => [
    primaryKey({ name: "config_property_t_pkey", columns: [t.hostId, t.propertyId] }),
    foreignKey({
      name: "config_property_t_config_fkey",
      columns: [t.hostId, t.configId],
      foreignColumns: [configT.hostId, configT.configId],
    }),
    check("config_property_t_display_order_check", sql`${t.displayOrder} >= 0`),
  ],
);

/** A table of reference values; `data_host_id` only where it belongs to one host. */
export const refTableT = pgTable(
  "ref_table_t",
  {
    hostId: tenant(),
    tableId: uuid("table_id").notNull(),
    dataHostId: uuid("data_host_id"),
    tableName: varchar("table_name", { length: 80 }),
    tableDesc: varchar("table_desc", { length: 1024 }),
    active: boolean("active").notNull().default(true),
    editable: boolean("editable").notNull().default(true),
    ...written(),
  },
  (t) => [primaryKey({ name: "ref_table_t_pkey", columns: [t.hostId, t.tableId] })],
);

export const refValueT = pgTable(
  "ref_value_t",
  {
    hostId: tenant(),
    valueId: uuid("value_id").notNull(),
    tableId: uuid("table_id"),
    valueCode: varchar("value_code", { length: 80 }),
    valueDesc: varchar("value_desc", { length: 1024 }),
    displayOrder: integer("display_order"),
    active: boolean("active").notNull().default(true),
    ...written(),
  },
  (t) => [
    primaryKey({ name: "ref_value_t_pkey", columns: [t.hostId, t.valueId] }),
    foreignKey({
      name: "ref_value_t_table_fkey",
      columns: [t.hostId, t.tableId],
      foreignColumns: [refTableT.hostId, refTableT.tableId],
    }),
  ],
);

export const refLocaleT = pgTable(
  "ref_locale_t",
  {
    hostId: tenant(),
    valueId: uuid("value_id").notNull(),
    language: varchar("language", { length: 16 }).notNull(),
    valueLabel: varchar("value_label", { length: 256 }),
    ...written(),
  },
  (t) => [
    primaryKey({ name: "ref_locale_t_pkey", columns: [t.hostId, t.valueId, t.language] }),
    foreignKey({
      name: "ref_locale_t_value_fkey",
      columns: [t.hostId, t.valueId],
      foreignColumns: [refValueT.hostId, refValueT.valueId],
    }),
  ],
);

export const refRelationTypeT = pgTable(
  "ref_relation_type_t",
  {
    hostId: tenant(),
    relationId: uuid("relation_id").notNull(),
    relationName: varchar("relation_name", { length: 80 }),
    relationDesc: varchar("relation_desc", { length: 1024 }),
    ...written(),
  },
  (t) => [primaryKey({ name: "ref_relation_type_t_pkey", columns: [t.hostId, t.relationId] })],
);

export const refRelationT = pgTable(
  "ref_relation_t",
  {
    hostId: tenant(),
    relationId: uuid("relation_id").notNull(),
    valueIdFrom: uuid("value_id_from").notNull(),
    valueIdTo: uuid("value_id_to").notNull(),
    active: boolean("active").notNull().default(true),
    ...written(),
  },
  (t) => [
    primaryKey({ name: "ref_relation_t_pkey", columns: [t.hostId, t.relationId, t.valueIdFrom, t.valueIdTo] }),
    foreignKey({
      name: "ref_relation_t_type_fkey",
      columns: [t.hostId, t.relationId],
      foreignColumns: [refRelationTypeT.hostId, refRelationTypeT.relationId],
    }),
    foreignKey({
      name: "ref_relation_t_from_fkey",
      columns: [t.hostId, t.valueIdFrom],
      foreignColumns: [refValueT.hostId, refValueT.valueId],
    }),
    foreignKey({
      name: "ref_relation_t_to_fkey",
      columns: [t.hostId, t.valueIdTo],
      foreignColumns: [refValueT.hostId, refValueT.valueId],
    }),
  ],
);

export const apiT = pgTable(
  "api_t",
  {
    hostId: tenant(),
    dataHostId: dataHost(),
    apiId: varchar("api_id", { length: 64 }).notNull(),
    apiName: varchar("api_name", { length: 128 }),
    apiDesc: varchar("api_desc", { length: 1024 }),
    operationOwner: varchar("operation_owner", { length: 255 }),
    deliveryOwner: varchar("delivery_owner", { length: 255 }),
    region: varchar("region", { length: 16 }),
    businessGroup: varchar("business_group", { length: 64 }),
    lob: varchar("lob", { length: 16 }),
    platform: varchar("platform", { length: 32 }),
    capability: varchar("capability", { length: 64 }),
    apiTags: varchar("api_tags", { length: 1024 }),
    apiStatus: varchar("api_status", { length: 32 }),
    ...written(),
  },
  (t) => [primaryKey({ name: "api_t_pkey", columns: [t.hostId, t.dataHostId, t.apiId] })],
);

/** One version of an API with its specification document and the endpoints found in it. */
export const apiVersionT = pgTable(
  "api_version_t",
  {
    hostId: tenant(),
    dataHostId: dataHost(),
    apiVersionId: uuid("api_version_id").notNull(),
    apiId: varchar("api_id", { length: 64 }),
    apiVersion: varchar("api_version", { length: 16 }),
    apiType: varchar("api_type", { length: 16 }),
    serviceId: varchar("service_id", { length: 255 }),
    apiVersionDesc: varchar("api_version_desc", { length: 1024 }),
    spec: text("spec"),
    endpoints: jsonb("endpoints"),
    ...written(),
  },
  (t) => [
    primaryKey({ name: "api_version_t_pkey", columns: [t.hostId, t.dataHostId, t.apiVersionId] }),
    foreignKey({
      name: "api_version_t_api_fkey",
      columns: [t.hostId, t.dataHostId, t.apiId],
      foreignColumns: [apiT.hostId, apiT.dataHostId, apiT.apiId],
    }),
  ],
);

export const appT = pgTable(
  "app_t",
  {
    hostId: tenant(),
    dataHostId: dataHost(),
    appId: varchar("app_id", { length: 64 }).notNull(),
    appName: varchar("app_name", { length: 128 }),
    appDesc: varchar("app_desc", { length: 2048 }),
    operationOwner: varchar("operation_owner", { length: 255 }),
    deliveryOwner: varchar("delivery_owner", { length: 255 }),
    ...written(),
  },
  (t) => [primaryKey({ name: "app_t_pkey", columns: [t.hostId, t.dataHostId, t.appId] })],
);

/** An OAuth client. Its secret stays with the authorization server. */
export const clientT = pgTable(
  "client_t",
  {
    hostId: tenant(),
    dataHostId: dataHost(),
    clientId: uuid("client_id").notNull(),
    appId: varchar("app_id", { length: 64 }),
    clientName: varchar("client_name", { length: 128 }),
    clientType: varchar("client_type", { length: 16 }),
    clientProfile: varchar("client_profile", { length: 16 }),
    clientScope: varchar("client_scope", { length: 4096 }),
    redirectUri: varchar("redirect_uri", { length: 1024 }),
    authenticateClass: varchar("authenticate_class", { length: 256 }),
    tokenExType: varchar("token_ex_type", { length: 32 }),
    ...written(),
  },
  (t) => [
    primaryKey({ name: "client_t_pkey", columns: [t.hostId, t.dataHostId, t.clientId] }),
    foreignKey({
      name: "client_t_app_fkey",
      columns: [t.hostId, t.dataHostId, t.appId],
      foreignColumns: [appT.hostId, appT.dataHostId, appT.appId],
    }),
  ],
);

/** An identity provider of the portal. `jwk` is its public key set; private keys are never projected. */
export const authProviderT = pgTable(
  "auth_provider_t",
  {
    hostId: tenant(),
    dataHostId: dataHost(),
    providerId: varchar("provider_id", { length: 64 }).notNull(),
    providerName: varchar("provider_name", { length: 128 }),
    providerDesc: varchar("provider_desc", { length: 4096 }),
    operationOwner: varchar("operation_owner", { length: 255 }),
    deliveryOwner: varchar("delivery_owner", { length: 255 }),
    jwk: text("jwk"),
    ...written(),
  },
  (t) => [primaryKey({ name: "auth_provider_t_pkey", columns: [t.hostId, t.dataHostId, t.providerId] })],
);

export const authProviderClientT = pgTable(
  "auth_provider_client_t",
  {
    hostId: tenant(),
    dataHostId: dataHost(),
    providerId: varchar("provider_id", { length: 64 }).notNull(),
    clientId: uuid("client_id").notNull(),
    ...written(),
  },
  (t) => [
    primaryKey({ name: "auth_provider_client_t_pkey", columns: [t.hostId, t.dataHostId, t.providerId, t.clientId] }),
    foreignKey({
      name: "auth_provider_client_t_provider_fkey",
      columns: [t.hostId, t.dataHostId, t.providerId],
      foreignColumns: [authProviderT.hostId, authProviderT.dataHostId, authProviderT.providerId],
    }),
    foreignKey({
      name: "auth_provider_client_t_client_fkey",
      columns: [t.hostId, t.dataHostId, t.clientId],
      foreignColumns: [clientT.hostId, clientT.dataHostId, clientT.clientId],
    }),
  ],
);

/** Latest state of every aggregate type without a table of its own. `entity_id` is made of its identity members. */
export const portalEntityT = pgTable(
  "portal_entity_t",
  {
    hostId: tenant(),
    aggregateType: varchar("aggregate_type", { length: 255 }).notNull(),
    entityId: varchar("entity_id", { length: 1024 }).notNull(),
    data: jsonb("data").notNull(),
    ...written(),
  },
  (t) => [primaryKey({ name: "portal_entity_t_pkey", columns: [t.hostId, t.aggregateType, t.entityId] })],
);

/** One row per event that belongs to no aggregate. */
export const portalRecordT = pgTable(
  "portal_record_t",
  {
    hostId: tenant(),
    eventId: uuid("event_id").notNull(),
    eventType: varchar("event_type", { length: 255 }).notNull(),
    data: jsonb("data").notNull(),
    recordUser: uuid("record_user"),
    recordTs: timestamp("record_ts", { withTimezone: true }).notNull(),
  },
  (t) => [primaryKey({ name: "portal_record_t_pkey", columns: [t.hostId, t.eventId] })],
);

/** Demo mode only: whether the deliberate defect is on. One row; the projector reads it once a batch on its own connection. */
export const demoDefectT = pgTable(
  "demo_defect_t",
  {
    id: integer("id").primaryKey().default(1),
    enabled: boolean("enabled").notNull().default(false),
    sinceTs: timestamp("since_ts", { withTimezone: true }),
  },
  (t) => [check("demo_defect_t_single_row_check", sql`${t.id} = 1`)],
);
