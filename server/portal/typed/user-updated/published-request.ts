/**
 * The request schema of `lightapi.net/user/updateUserById/0.1.0` as the portal publishes it, member by member: what the
 * tests hold command and validator against. Nothing of the product reads it.
 */
export const PUBLISHED_UPDATE_USER_BY_ID = {
  type: "object",
  properties: {
    hostId: { type: "string" },
    email: { type: "string" },
    userId: { type: "string" },
    entityId: { type: "string" },
    userType: { type: "string" },
    referralId: { type: "string" },
    managerId: { type: "string" },
    language: { type: "string", enum: ["en"] },
    firstName: { type: "string" },
    lastName: { type: "string" },
    phoneNumber: { type: "string" },
    gender: { type: "string" },
    birthday: { type: "string", format: "date" },
    country: { type: "string" },
    province: { type: "string" },
    city: { type: "string" },
    postCode: { type: "string" },
    address: { type: "string" },
  },
  required: ["hostId", "email", "userId", "entityId", "userType", "language"],
};
