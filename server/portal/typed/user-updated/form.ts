import { userUpdatedRepairV1 } from "./repair-schema";

export const USER_UPDATED_FORM_KEY = "eventReplayUserUpdatedRepair";

/** The entry of forms/Forms.json: the repair schema as the console's form shows it. Generated, never edited by hand. */
export const userUpdatedRepairForm = {
  formId: USER_UPDATED_FORM_KEY,
  eventType: userUpdatedRepairV1.eventType,
  eventSchemaVersion: userUpdatedRepairV1.schemaVersion,
  repairSchemaVersion: userUpdatedRepairV1.version,
  schema: userUpdatedRepairV1.jsonSchema,
  form: userUpdatedRepairV1.editableFields,
};
