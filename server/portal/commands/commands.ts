import type { z } from "zod";
import type { OperationContract } from "@/server/contracts/operation";
import * as contracts from "@/server/contracts/portal";

/** CREATE: the aggregate must not exist (or have been removed). CHANGE and REMOVE: it must exist. */
export type CommandEffect = "CREATE" | "CHANGE" | "REMOVE";

export type CommandDefinition = {
  readonly contract: OperationContract<z.ZodType, typeof contracts.commandResponse>;
  readonly aggregateType: string;
  readonly eventType: string;
  readonly effect: CommandEffect;
  /** Members whose texts, joined by `|`, are the aggregate's id, as the portal's other producers write it. */
  readonly id: readonly string[];
  /** A member whose value is a new UUID. */
  readonly newId?: string;
  /** Members of the event that the command decides itself. */
  readonly fixed?: Readonly<Record<string, unknown>>;
};

type Rest = Pick<CommandDefinition, "newId" | "fixed"> & { readonly event?: string };

const VERBS = { CREATE: "Created", CHANGE: "Updated", REMOVE: "Deleted" } as const;

const define =
  (effect: CommandEffect) =>
  (
    contract: CommandDefinition["contract"],
    aggregateType: string,
    id: string,
    { event, ...rest }: Rest = {},
  ): CommandDefinition => ({
    contract,
    aggregateType,
    eventType: event ?? `${aggregateType}${VERBS[effect]}Event`,
    effect,
    id: id.split("|"),
    ...rest,
  });

const create = define("CREATE");
const change = define("CHANGE");
const remove = define("REMOVE");

/** One line per command: its contract, aggregate, id and event. What the event carries is the request. */
export const COMMANDS: readonly CommandDefinition[] = [
  create(contracts.createUser, "User", "userId", {
    event: "UserOnboardedEvent",
    newId: "userId",
    fixed: { verified: false, locked: false },
  }),
  change(contracts.updateUserById, "User", "userId"),
  remove(contracts.deleteUserById, "User", "userId"),
  create(contracts.createRole, "Role", "roleId"),
  change(contracts.updateRole, "Role", "roleId"),
  remove(contracts.deleteRole, "Role", "roleId"),
  create(contracts.createRoleUser, "RoleUser", "roleId|userId"),
  change(contracts.updateRoleUser, "RoleUser", "roleId|userId"),
  remove(contracts.deleteRoleUser, "RoleUser", "roleId|userId"),
  create(contracts.createConfig, "Config", "configId", { newId: "configId" }),
  change(contracts.updateConfig, "Config", "configId"),
  remove(contracts.deleteConfig, "Config", "configId"),
  create(contracts.createConfigProperty, "ConfigProperty", "propertyId", { newId: "propertyId" }),
  change(contracts.updateConfigProperty, "ConfigProperty", "propertyId"),
  remove(contracts.deleteConfigProperty, "ConfigProperty", "propertyId"),
  create(contracts.createRefTable, "RefTable", "tableId", { newId: "tableId" }),
  change(contracts.updateRefTable, "RefTable", "tableId"),
  remove(contracts.deleteRefTable, "RefTable", "tableId"),
  create(contracts.createRefValue, "RefValue", "valueId", { newId: "valueId" }),
  change(contracts.updateRefValue, "RefValue", "valueId"),
  remove(contracts.deleteRefValue, "RefValue", "valueId"),
  create(contracts.createRefLocale, "RefLocale", "valueId|language"),
  change(contracts.updateRefLocale, "RefLocale", "valueId|language"),
  remove(contracts.deleteRefLocale, "RefLocale", "valueId|language"),
];
