import { saveRow, tableOf } from "@/server/portal/handlers";
import type { TypedEvent } from "@/server/portal/typed/typed-event";
import { USER_UPDATED_FORM_KEY, userUpdatedRepairForm } from "./form";
import { USER_UPDATED_REPAIR_V1, userUpdatedRepairV1 } from "./repair-schema";
import { USER_UPDATED_V1, validateUserUpdatedV1 } from "./validator";

const users = tableOf("User");

/** `UserUpdatedEvent` version 1: the first event whose data is validated and repaired by type (ER-APP-43). */
export const userUpdated: TypedEvent = {
  entry: {
    eventType: "UserUpdatedEvent",
    schemaVersion: "1",
    transactionPolicy: "COMPLETE_TRANSACTION",
    dependency: { kind: "AGGREGATE", aggregateType: "User" },
    dataValidator: USER_UPDATED_V1,
    replayPolicy: "AGGREGATE_VERSION",
    repairDisposition: "SCHEMA_REPAIR",
    repairSchema: USER_UPDATED_REPAIR_V1,
    externalSideEffects: "NONE",
    identityFields: ["userId"],
  },
  validator: validateUserUpdatedV1,
  repairSchema: userUpdatedRepairV1,
  handler: { kind: "rows", project: (event) => [saveRow(users, event, false)] },
  form: { key: USER_UPDATED_FORM_KEY, entry: userUpdatedRepairForm },
};
