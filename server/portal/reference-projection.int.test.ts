import { expect, test } from "vitest";
import { importEvents } from "@/server/event-replay/append/import-events";
import { ensureProgressRows } from "@/server/event-replay/live/outbox-lane";
import { projectBatch } from "@/server/event-replay/live/project-batch";
import { inTransaction } from "@/server/platform/db/transaction";
import { portalProjection } from "@/server/portal/portal-projection";
import { readPortalEventFiles } from "@/server/testing/data";
import { testDatabase } from "@/server/testing/database";

/*
 * A straightforward projection of the portal's real events, one event after the other into plain objects. It shares no code
 * with engine, handlers or table declarations: what each event means is written out here a second time.
 */
type Event = {
  id: string;
  type: string;
  host: string;
  user: string;
  time: string;
  aggregateversion: string | number;
  // biome-ignore lint/suspicious/noExplicitAny: the reference reads foreign documents as they come
  data: Record<string, any>;
};
type Row = Record<string, unknown>;
type State = Map<string, Map<string, Row>>;

const db = testDatabase();

test("the engine's projection of all real events equals a row-by-row reference projection", async () => {
  const files = readPortalEventFiles();
  const definition = portalProjection();
  const report = await importEvents(
    { pool: db.pool, projection: definition },
    files.map((file) => file.path),
  );
  expect(report).toMatchObject({ kind: "IMPORTED", appendedEvents: 2_049, appendedTransactions: 2_049 });

  await inTransaction(db.pool, "test", (tx) => ensureProgressRows(tx, definition));
  let captured = 0;
  for (;;) {
    const batch = await projectBatch(db.pool, definition, 15);
    if (batch.kind === "IDLE") break;
    captured += batch.captured;
  }
  expect(captured).toBe(0);

  const reference = project(files.flatMap((file) => file.lines.map((line) => JSON.parse(line) as Event)));
  expect(reference.size).toBe(19);
  for (const [table, rows] of reference) {
    const expected = [...rows.values()].sort(byText);
    expect({ table, rows: await stored(table) }).toEqual({ table, rows: expected });
  }
  expect(await stored("portal_entity_t")).toEqual([]);
});

async function stored(table: string): Promise<Row[]> {
  const { rows } = await db.pool.query<{ row: Row }>(
    `SELECT to_jsonb(t) || jsonb_build_object(
       'update_ts', to_char(update_ts AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) AS row
     FROM ${table} t`,
  );
  return rows.map(({ row }) => row).sort(byText);
}

const byText = (a: Row, b: Row) => (text(a) < text(b) ? -1 : 1);
const text = (row: Row) => JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)));

function project(events: readonly Event[]): State {
  const state: State = new Map();
  for (const event of events) apply(state, event);
  return state;
}

function apply(state: State, event: Event): Row | null {
  const { data: d } = event;
  const put = (table: string, key: Row, columns: Row) => {
    const rows = state.get(table) ?? new Map<string, Row>();
    state.set(table, rows);
    const whole = { host_id: event.host, ...key };
    const row = {
      ...whole,
      ...columns,
      aggregate_version: Number(event.aggregateversion),
      update_user: event.user,
      update_ts: micros(event.time),
    };
    rows.set(JSON.stringify(whole), row);
    return row;
  };
  const or = (value: unknown, otherwise: unknown = null) => (value === undefined ? otherwise : value);

  switch (event.type) {
    case "UserOnboardedEvent":
      return put(
        "user_t",
        { user_id: d.userId },
        {
          email: d.email,
          entity_id: d.entityId,
          user_type: d.userType,
          referral_id: or(d.referralId),
          manager_id: or(d.managerId),
          language: d.language,
          first_name: or(d.firstName),
          last_name: or(d.lastName),
          phone_number: or(d.phoneNumber),
          gender: or(d.gender),
          birthday: or(d.birthday),
          country: or(d.country),
          province: or(d.province),
          city: or(d.city),
          post_code: or(d.postCode),
          address: or(d.address),
          verified: or(d.verified, false),
          locked: or(d.locked, false),
        },
      );
    case "OrgCreatedEvent":
      return put("org_t", { domain: d.domain }, { org_name: d.orgName, org_desc: d.orgDesc, org_owner: d.orgOwner });
    case "HostCreatedEvent":
      return put(
        "host_t",
        { data_host_id: d.hostId },
        { domain: d.domain, sub_domain: d.subDomain, host_desc: d.hostDesc, host_owner: d.hostOwner },
      );
    case "RoleCreatedEvent":
      return put("role_t", { data_host_id: d.hostId, role_id: d.roleId }, { role_desc: or(d.roleDesc) });
    case "RoleUserCreatedEvent":
      return put(
        "role_user_t",
        { data_host_id: d.hostId, role_id: d.roleId, user_id: d.userId },
        { start_ts: or(d.startTs), end_ts: or(d.endTs) },
      );
    case "UserHostCreatedEvent":
      return put("user_host_t", { user_id: d.userId, data_host_id: d.hostId }, { current: or(d.current, false) });
    case "ConfigCreatedEvent":
      return put(
        "config_t",
        { config_id: d.configId },
        {
          config_name: d.configName,
          config_phase: d.configPhase,
          config_type: d.configType,
          light4j_version: or(d.light4jVersion),
          class_path: or(d.classPath),
          config_desc: d.configDesc,
        },
      );
    case "ConfigPropertyCreatedEvent":
    case "ConfigPropertyUpdatedEvent": {
      const known = state
        .get("config_property_t")
        ?.get(JSON.stringify({ host_id: event.host, property_id: d.propertyId }));
      const created = event.type === "ConfigPropertyCreatedEvent";
      const was = (column: string, otherwise: unknown = null) => (created ? otherwise : known?.[column]);
      return put(
        "config_property_t",
        { property_id: d.propertyId },
        {
          config_id: or(d.configId, was("config_id")),
          property_name: or(d.propertyName, was("property_name")),
          property_type: or(d.propertyType, was("property_type")),
          light4j_version: or(d.light4jVersion, was("light4j_version")),
          display_order: or(d.displayOrder, was("display_order")),
          required: or(d.required, was("required", false)),
          property_desc: or(d.propertyDesc, was("property_desc")),
          property_value: or(d.propertyValue, was("property_value")),
          value_type: or(d.valueType, was("value_type")),
          resource_type: or(d.resourceType, was("resource_type")),
          active: or(d.active, was("active", true)),
        },
      );
    }
    case "ConfigPropertyDeletedEvent":
      state.get("config_property_t")?.delete(JSON.stringify({ host_id: event.host, property_id: d.propertyId }));
      return null;
    case "RefTableCreatedEvent":
      return put(
        "ref_table_t",
        { table_id: d.tableId },
        {
          data_host_id: or(d.hostId),
          table_name: d.tableName,
          table_desc: or(d.tableDesc),
          active: or(d.active, true),
          editable: or(d.editable, true),
        },
      );
    case "RefValueCreatedEvent":
      return put(
        "ref_value_t",
        { value_id: d.valueId },
        {
          table_id: d.tableId,
          value_code: d.valueCode,
          value_desc: or(d.valueDesc),
          display_order: or(d.displayOrder),
          active: or(d.active, true),
        },
      );
    case "RefLocaleCreatedEvent":
      return put("ref_locale_t", { value_id: d.valueId, language: d.language }, { value_label: d.valueLabel });
    case "RefRelationTypeCreatedEvent":
      return put(
        "ref_relation_type_t",
        { relation_id: d.relationId },
        { relation_name: d.relationName, relation_desc: d.relationDesc },
      );
    case "RefRelationCreatedEvent":
      return put(
        "ref_relation_t",
        { relation_id: d.relationId, value_id_from: d.valueIdFrom, value_id_to: d.valueIdTo },
        { active: or(d.active, true) },
      );
    case "ApiCreatedEvent":
      return put(
        "api_t",
        { data_host_id: d.hostId, api_id: d.apiId },
        {
          api_name: d.apiName,
          api_desc: or(d.apiDesc),
          operation_owner: or(d.operationOwner),
          delivery_owner: or(d.deliveryOwner),
          region: or(d.region),
          business_group: or(d.businessGroup),
          lob: or(d.lob),
          platform: or(d.platform),
          capability: or(d.capability),
          api_tags: or(d.apiTags),
          api_status: or(d.apiStatus),
        },
      );
    case "ApiVersionCreatedEvent":
      return put(
        "api_version_t",
        { data_host_id: d.hostId, api_version_id: d.apiVersionId },
        {
          api_id: d.apiId,
          api_version: d.apiVersion,
          api_type: d.apiType,
          service_id: d.serviceId,
          api_version_desc: or(d.apiVersionDesc),
          spec: or(d.spec),
          endpoints: or(d.endpoints),
        },
      );
    case "AppCreatedEvent":
      return put(
        "app_t",
        { data_host_id: d.hostId, app_id: d.appId },
        {
          app_name: d.appName,
          app_desc: or(d.appDesc),
          operation_owner: or(d.operationOwner),
          delivery_owner: or(d.deliveryOwner),
        },
      );
    case "ClientCreatedEvent":
      return put(
        "client_t",
        { data_host_id: d.hostId, client_id: d.clientId },
        {
          app_id: or(d.appId),
          client_name: d.clientName,
          client_type: d.clientType,
          client_profile: or(d.clientProfile),
          client_scope: or(d.clientScope),
          redirect_uri: or(d.redirectUri),
          authenticate_class: or(d.authenticateClass),
          token_ex_type: or(d.tokenExType),
        },
      );
    case "AuthProviderCreatedEvent":
      return put(
        "auth_provider_t",
        { data_host_id: d.hostId, provider_id: d.providerId },
        {
          provider_name: d.providerName,
          provider_desc: or(d.providerDesc),
          operation_owner: or(d.operationOwner),
          delivery_owner: or(d.deliveryOwner),
          jwk: or(d.jwk),
        },
      );
    case "AuthProviderClientCreatedEvent":
      return put(
        "auth_provider_client_t",
        { data_host_id: d.hostId, provider_id: d.providerId, client_id: d.clientId },
        {},
      );
    default:
      throw new Error(`the reference projection does not know ${event.type}`);
  }
}

/** RFC 3339 with any offset and up to nanoseconds → UTC with microseconds, rounded half to even as the database does. */
function micros(time: string): string {
  const [, date, clock, fraction = "", zone] = /^(\S+)T(\d\d:\d\d:\d\d)(?:\.(\d+))?(\S+)$/.exec(time) ?? [];
  const seconds = BigInt(Date.parse(`${date}T${clock}${zone}`)) * 1_000n;
  const exact = Number(`0.${fraction || "0"}`) * 1e6;
  const floor = Math.floor(exact);
  const halfEven = exact - floor === 0.5 ? floor + (floor % 2) : Math.round(exact);
  const rounded = seconds + BigInt(halfEven);
  const whole = new Date(Number(rounded / 1_000n)).toISOString().slice(0, -1);
  return `${whole}${String(rounded % 1_000n).padStart(3, "0")}Z`;
}
