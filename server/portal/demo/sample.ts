import type { Command, CommandChange } from "@/server/event-replay/append/append-command";
import { newId } from "@/server/platform/ids";
import { DEMO_IDENTITIES } from "./identities";

/** A change of the sample before it is bound to a host. */
export type Change = Omit<CommandChange, "expectedVersion">;

export const event = (type: string, eventType: string, aggregateId: string, data: CommandChange["data"]): Change => ({
  aggregateType: type,
  eventType: `${type}${eventType}Event`,
  aggregateId,
  data,
});

export const asCommand = (hostId: string, userId: string | null, changes: readonly Change[]): Command => ({
  hostId,
  userId,
  source: "urn:event-admin:demo",
  changes,
});

/** Who acts on a demo host when no one in particular does. */
export function administratorOf(hostId: string): string | null {
  return DEMO_IDENTITIES.find((identity) => identity.hostId === hostId)?.userId ?? null;
}

const ROLES: readonly (readonly [string, string])[] = [
  ["claims-adjuster", "Reviews and settles claims"],
  ["policy-editor", "Edits policies before they are published"],
  ["branch-manager", "Runs a branch and its staff"],
  ["auditor", "Reads everything, changes nothing"],
  ["support-agent", "Answers customers"],
  ["partner-api", "Calls the partner interfaces"],
];

const CONFIGS: readonly (readonly [string, string, readonly (readonly [string, string, string])[]])[] = [
  [
    "claims-gateway",
    "Handler chain of the claims gateway",
    [
      ["enabled", "boolean", "true"],
      ["connectTimeout", "integer", "2000"],
      ["readTimeout", "integer", "5000"],
      ["allowedOrigins", "list", "[https://claims.acme.example]"],
      ["retries", "integer", "2"],
      ["auditLevel", "string", "summary"],
    ],
  ],
  [
    "document-store",
    "Where scanned documents are kept",
    [
      ["bucket", "string", "acme-claims-eu"],
      ["retentionDays", "integer", "3650"],
      ["encryption", "string", "AES-256"],
      ["maxSizeMegabytes", "integer", "25"],
    ],
  ],
  [
    "notification-mail",
    "Mails to customers",
    [
      ["sender", "string", "claims@acme.example"],
      ["maxPerMinute", "integer", "120"],
      ["templateFolder", "string", "/templates/v3"],
      ["footer", "string", "Acme Mutual, 12 Harbour Street"],
    ],
  ],
  [
    "rate-limit",
    "Requests per partner",
    [
      ["perSecond", "integer", "50"],
      ["burst", "integer", "200"],
      ["key", "string", "client_id"],
    ],
  ],
  [
    "session",
    "Sign-in sessions of the customer portal",
    [
      ["idleMinutes", "integer", "30"],
      ["absoluteHours", "integer", "12"],
      ["sameSite", "string", "strict"],
      ["rotateOnPrivilege", "boolean", "true"],
    ],
  ],
];

const TABLES: readonly (readonly [string, string, readonly (readonly [string, string])[]])[] = [
  [
    "claim_status",
    "Status of a claim",
    [
      ["OPEN", "Open"],
      ["REVIEW", "In review"],
      ["PAID", "Paid"],
      ["DENIED", "Denied"],
    ],
  ],
  [
    "document_type",
    "Type of a document",
    [
      ["INVOICE", "Invoice"],
      ["PHOTO", "Photograph"],
      ["REPORT", "Expert report"],
    ],
  ],
  [
    "coverage",
    "Coverage",
    [
      ["HOME", "Home"],
      ["CAR", "Car"],
      ["TRAVEL", "Travel"],
      ["LIABILITY", "Liability"],
    ],
  ],
  [
    "contact_channel",
    "How a customer is reached",
    [
      ["MAIL", "E-mail"],
      ["PHONE", "Telephone"],
      ["POST", "Letter"],
    ],
  ],
];

const PEOPLE: readonly (readonly [string, string, "E" | "C"])[] = [
  ["Nora", "Haugen", "E"],
  ["Mateo", "Silva", "E"],
  ["Ines", "Ferreira", "E"],
  ["Tom", "Becker", "C"],
  ["Aisha", "Rahman", "C"],
  ["Jonas", "Weber", "C"],
];

/**
 * A small insurer's portal: organisation, people, roles, configuration, reference tables and interfaces, as commands of one
 * host in the order in which they would have happened. Ids are new every time; names meet no other portal's.
 */
export function sampleCommands(hostId: string): Command[] {
  const transactions = [
    ...organisation(hostId),
    ...roles(hostId),
    ...people(hostId),
    ...configs(hostId),
    ...references(),
    ...apis(hostId),
  ];
  return transactions.map((changes) => asCommand(hostId, administratorOf(hostId), changes));
}

function organisation(hostId: string): Change[][] {
  const owner = "claims-board";
  return [
    [
      event("Org", "Created", "acme.example", {
        domain: "acme.example",
        orgName: "Acme Mutual",
        orgDesc: "Home and car insurance",
        orgOwner: owner,
      }),
      event("Host", "Created", hostId, {
        hostId,
        domain: "acme.example",
        subDomain: "portal",
        hostDesc: "Customer portal",
        hostOwner: owner,
      }),
    ],
  ];
}

function roles(hostId: string): Change[][] {
  return ROLES.map(([roleId, roleDesc]) => [event("Role", "Created", roleId, { hostId, roleId, roleDesc })]);
}

function people(hostId: string): Change[][] {
  return PEOPLE.map(([firstName, lastName, userType], i) => {
    const userId = newId();
    const roleId = (ROLES[i % ROLES.length] as (typeof ROLES)[number])[0];
    return [
      event("User", "Onboarded", userId, {
        hostId,
        userId,
        email: `${firstName}.${lastName}@acme.example`.toLowerCase(),
        entityId: `P-${1001 + i}`,
        userType,
        language: "en",
        firstName,
        lastName,
        country: "NO",
        verified: true,
        locked: false,
      }),
      event("UserHost", "Created", `${userId}|${hostId}`, { userId, hostId, current: true }),
      event("RoleUser", "Created", `${roleId}|${userId}`, { hostId, roleId, userId }),
    ];
  });
}

function configs(hostId: string): Change[][] {
  return CONFIGS.flatMap(([configName, configDesc, properties]) => {
    const configId = newId();
    const config = event("Config", "Created", configId, {
      hostId,
      configId,
      configName,
      configPhase: "R",
      configType: "Handler",
      configDesc,
    });
    const rows = properties.map(([propertyName, valueType, propertyValue], i) => {
      const propertyId = newId();
      const data = {
        hostId,
        configId,
        propertyId,
        propertyName,
        propertyType: "Config",
        valueType,
        propertyValue,
        resourceType: "none",
        displayOrder: i + 1,
        required: i === 0,
      };
      return [event("ConfigProperty", "Created", propertyId, data)];
    });
    return [[config], ...rows];
  });
}

function references(): Change[][] {
  return TABLES.flatMap(([tableName, tableDesc, values]) => {
    const tableId = newId();
    const table = event("RefTable", "Created", tableId, {
      tableId,
      tableName,
      tableDesc,
      active: true,
      editable: true,
    });
    const rows = values.map(([valueCode, valueLabel], i) => {
      const valueId = newId();
      const value = { valueId, tableId, valueCode, valueDesc: valueLabel, displayOrder: (i + 1) * 100, active: true };
      return [
        event("RefValue", "Created", valueId, value),
        event("RefLocale", "Created", `${valueId}|en`, { valueId, language: "en", valueLabel }),
      ];
    });
    return [[table], ...rows];
  });
}

function apis(hostId: string): Change[][] {
  return ["claims", "policies", "payments"].map((name, i) => {
    const apiId = `ACM-${String(i + 1).padStart(3, "0")}`;
    const apiVersionId = newId();
    return [
      event("Api", "Created", `${hostId}|${apiId}`, {
        hostId,
        apiId,
        apiName: name,
        apiDesc: `The ${name} interface`,
        apiStatus: "onboarded",
      }),
      event("ApiVersion", "Created", apiVersionId, {
        hostId,
        apiId,
        apiVersionId,
        apiVersion: "1.0.0",
        apiType: "openapi",
        serviceId: `example.acme.${name}-1.0.0`,
        spec: `openapi: 3.1.0\ninfo:\n  title: ${name}\n  version: 1.0.0\npaths: {}\n`,
        endpoints: [{ endpoint: `/v1/${name}@get`, scopes: [`${name}.r`] }],
      }),
    ];
  });
}
