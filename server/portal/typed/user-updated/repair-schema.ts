import type { RepairSchema } from "@/server/event-replay/registry/domain/policy";

export const USER_UPDATED_REPAIR_V1 = "user-updated-repair-v1";

const text = (title: string, maxLength: number) => ({ type: "string", title, maxLength });

/**
 * What a repair may replace in a user update, in the order of the form (ER-REP-19). Narrower than the event's validator where
 * the projection is: an operator's value must fit. E-mail, entity, user and host ids are identity and never editable.
 */
const properties = {
  userType: { type: "string", title: "User Type", enum: ["C", "E"] },
  referralId: text("Referral Id", 320),
  managerId: text("Manager Id", 320),
  language: { type: "string", title: "Language", enum: ["en"] },
  firstName: text("First Name", 255),
  lastName: text("Last Name", 255),
  phoneNumber: text("Phone Number", 64),
  gender: text("Gender", 32),
  birthday: { type: "string", title: "Birthday", format: "date" },
  country: text("Country", 128),
  province: text("Province", 128),
  city: text("City", 128),
  postCode: text("Post Code", 32),
  address: text("Address", 512),
};

/** Personal data stays unseen by the reviewer, the place shows its shape alone; enumerations hold no personal text. */
const REVIEWED: RepairSchema["review"] = {
  userType: "full",
  language: "full",
  country: "masked",
  province: "masked",
  city: "masked",
  postCode: "masked",
};

export const userUpdatedRepairV1: RepairSchema = {
  version: USER_UPDATED_REPAIR_V1,
  eventType: "UserUpdatedEvent",
  schemaVersion: "1",
  jsonSchema: { type: "object", properties, additionalProperties: false, minProperties: 1 },
  editableFields: Object.keys(properties),
  review: { ...Object.fromEntries(Object.keys(properties).map((field) => [field, "none"])), ...REVIEWED },
};
