import { z } from "zod";
import type { ErrorCode } from "./errors";
import { count, text, uuid } from "./fields";
import { defineOperation } from "./operation";

/**
 * Commands of the example domain. Each request schema holds that command's own required members and domain rules; they run
 * before an event is made and are narrower than what the append boundary asks of an event (ER-APP-40). `hostId` is always the
 * caller's own host. `aggregateVersion` is the last version the caller has seen; without it the command applies to whatever is stored.
 */
export const commandResponse = z.strictObject({
  transactionId: uuid,
  eventId: uuid,
  /** The aggregate's id; of a created one with a generated id the new id. */
  aggregateId: z.string().max(255),
  aggregateVersion: count,
});
export type CommandResponse = z.infer<typeof commandResponse>;

const ERRORS = [
  "AGGREGATE_PROJECTION_BLOCKED",
  "AGGREGATE_REPAIR_REQUIRED",
  "ORDERED_SCOPE_GUARD_UNAVAILABLE",
  "UNSUPPORTED_EVENT_TYPE",
] as const satisfies readonly ErrorCode[];

const base = { hostId: uuid };
const seen = { ...base, aggregateVersion: count.min(1).optional() };
const name = (max: number) => text(max).min(1).regex(/\S/);
/** Part of a composed aggregate id; the separator would let two aggregates share one id. */
const idPart = (max: number) => name(max).regex(/^[^|]*$/);
const instant = z.iso.datetime({ offset: true });
const displayOrder = z.int().min(0).max(2_147_483_647);

function command<Request extends z.ZodType>(operation: string, summary: string, request: Request) {
  return defineOperation({
    name: operation,
    kind: "command",
    summary,
    request,
    response: commandResponse,
    errors: ERRORS,
  });
}

const person = {
  email: z.email().max(255),
  entityId: name(255),
  userType: z.enum(["C", "E"]),
  language: z.enum(["en"]),
  referralId: text(320).optional(),
  managerId: text(320).optional(),
  firstName: text(255).optional(),
  lastName: text(255).optional(),
  phoneNumber: text(64).optional(),
  gender: text(32).optional(),
  birthday: z.iso.date().optional(),
  country: text(128).optional(),
  province: text(128).optional(),
  city: text(128).optional(),
  postCode: text(32).optional(),
  address: text(512).optional(),
};

export const createUser = command(
  "createUser",
  "Add a person. Passwords stay with the identity provider.",
  z.strictObject({ ...base, ...person }),
);

const anyText = z.string();
const optionalText = z.string().optional();

/** The published request of the portal, member by member and no stricter (ER-APP-42). Further members are accepted and dropped. */
export const updateUserByIdRequest = z.object({
  hostId: anyText,
  email: anyText,
  userId: anyText,
  entityId: anyText,
  userType: anyText,
  referralId: optionalText,
  managerId: optionalText,
  language: z.enum(["en"]),
  firstName: optionalText,
  lastName: optionalText,
  phoneNumber: optionalText,
  gender: optionalText,
  birthday: z.iso.date().optional(),
  country: optionalText,
  province: optionalText,
  city: optionalText,
  postCode: optionalText,
  address: optionalText,
});
export const updateUserById = command("updateUserById", "Change a person's details.", updateUserByIdRequest);
export const deleteUserById = command(
  "deleteUserById",
  "Remove a person.",
  z.strictObject({ ...seen, userId: name(255) }),
);

const role = { roleId: idPart(255) };
export const createRole = command(
  "createRole",
  "Add a role.",
  z.strictObject({ ...base, ...role, roleDesc: text(1024).optional() }),
);
export const updateRole = command(
  "updateRole",
  "Change a role's description.",
  z.strictObject({ ...seen, ...role, roleDesc: text(1024) }),
);
export const deleteRole = command("deleteRole", "Remove a role.", z.strictObject({ ...seen, ...role }));

const roleUser = { ...role, userId: idPart(255) };
const period = { startTs: instant.optional(), endTs: instant.optional() };
const inOrder = (request: { startTs?: string | undefined; endTs?: string | undefined }) =>
  request.startTs === undefined ||
  request.endTs === undefined ||
  Date.parse(request.startTs) < Date.parse(request.endTs);
const periodRule = { path: ["endTs"], params: { rule: "ENDS_BEFORE_START" } };
export const createRoleUser = command(
  "createRoleUser",
  "Give a user a role.",
  z.strictObject({ ...base, ...roleUser, ...period }).refine(inOrder, periodRule),
);
export const updateRoleUser = command(
  "updateRoleUser",
  "Change for how long a user has a role.",
  z.strictObject({ ...seen, ...roleUser, ...period }).refine(inOrder, periodRule),
);
export const deleteRoleUser = command(
  "deleteRoleUser",
  "Take a role from a user.",
  z.strictObject({ ...seen, ...roleUser }),
);

const config = {
  configName: name(128),
  configPhase: z.enum(["D", "R"]),
  configType: name(32),
  light4jVersion: text(12).optional(),
  classPath: text(1024).optional(),
  configDesc: text(4096).optional(),
};
export const createConfig = command("createConfig", "Add a configuration.", z.strictObject({ ...base, ...config }));
export const updateConfig = command(
  "updateConfig",
  "Change a configuration.",
  z.strictObject({ ...seen, configId: uuid, ...config }),
);
export const deleteConfig = command(
  "deleteConfig",
  "Remove a configuration.",
  z.strictObject({ ...seen, configId: uuid }),
);

const property = {
  configId: uuid,
  propertyName: name(64),
  propertyType: text(32).optional(),
  light4jVersion: text(12).optional(),
  displayOrder: displayOrder.optional(),
  required: z.boolean().optional(),
  propertyDesc: text(4096).optional(),
  propertyValue: text(100_000).optional(),
  valueType: text(32).optional(),
  resourceType: text(32).optional(),
};
export const createConfigProperty = command(
  "createConfigProperty",
  "Add a property to a configuration.",
  z.strictObject({ ...base, ...property }),
);
export const updateConfigProperty = command(
  "updateConfigProperty",
  "Change a property of a configuration.",
  z.strictObject({ ...seen, propertyId: uuid, ...property }),
);
export const deleteConfigProperty = command(
  "deleteConfigProperty",
  "Remove a property of a configuration.",
  z.strictObject({ ...seen, configId: uuid, propertyId: uuid }),
);

const refTable = {
  tableName: name(80),
  tableDesc: text(1024).optional(),
  active: z.boolean().optional(),
  editable: z.boolean().optional(),
};
export const createRefTable = command(
  "createRefTable",
  "Add a reference table.",
  z.strictObject({ ...base, ...refTable }),
);
export const updateRefTable = command(
  "updateRefTable",
  "Change a reference table.",
  z.strictObject({ ...seen, tableId: uuid, ...refTable }),
);
export const deleteRefTable = command(
  "deleteRefTable",
  "Remove a reference table.",
  z.strictObject({ ...seen, tableId: uuid }),
);

const refValue = {
  tableId: uuid,
  valueCode: name(80),
  valueDesc: text(1024).optional(),
  displayOrder: displayOrder.optional(),
  active: z.boolean().optional(),
};
export const createRefValue = command(
  "createRefValue",
  "Add a value to a reference table.",
  z.strictObject({ ...base, ...refValue }),
);
export const updateRefValue = command(
  "updateRefValue",
  "Change a value of a reference table.",
  z.strictObject({ ...seen, valueId: uuid, ...refValue }),
);
export const deleteRefValue = command(
  "deleteRefValue",
  "Remove a value of a reference table.",
  z.strictObject({ ...seen, valueId: uuid }),
);

const refLocale = { valueId: uuid, language: idPart(16) };
export const createRefLocale = command(
  "createRefLocale",
  "Name a reference value in a language.",
  z.strictObject({ ...base, ...refLocale, valueLabel: name(256) }),
);
export const updateRefLocale = command(
  "updateRefLocale",
  "Change a reference value's name in a language.",
  z.strictObject({ ...seen, ...refLocale, valueLabel: name(256) }),
);
export const deleteRefLocale = command(
  "deleteRefLocale",
  "Remove a reference value's name in a language.",
  z.strictObject({ ...seen, ...refLocale }),
);
