import type { DemoIdentity } from "@/server/platform/auth/demo/demo-token";

/** Host of the demo's data, and of everyone but dave. */
export const DEMO_HOST_ID = "01964b05-552a-7c4b-9184-6857e7f3dc5f";
/** Another tenant, in another partition: what happens on one host is invisible on the other. */
export const OTHER_DEMO_HOST_ID = "0196f0c2-7d14-7b53-9a41-3f2c5d6e7a02";

/**
 * The people of demo mode: two operators who approve each other's requests, a reader, and an operator of another host. Role
 * texts mean nothing here; the endpoint rules give them meaning. Each signs in with the name as password.
 */
export const DEMO_IDENTITIES: readonly DemoIdentity[] = [
  {
    name: "alice",
    displayName: "Alice Moreau",
    userId: "0196f0c2-0a11-7c01-8a01-5d1b6c0e4a01",
    hostId: DEMO_HOST_ID,
    roles: ["event-operator", "portal-admin"],
  },
  {
    name: "bob",
    displayName: "Bob Okafor",
    userId: "0196f0c2-0a11-7c01-8a01-5d1b6c0e4a02",
    hostId: DEMO_HOST_ID,
    roles: ["event-operator", "portal-admin"],
  },
  {
    name: "carol",
    displayName: "Carol Lindqvist",
    userId: "0196f0c2-0a11-7c01-8a01-5d1b6c0e4a03",
    hostId: DEMO_HOST_ID,
    roles: ["event-reader"],
  },
  {
    name: "dave",
    displayName: "Dave Tanaka",
    userId: "0196f0c2-0a11-7c01-8a01-5d1b6c0e4a04",
    hostId: OTHER_DEMO_HOST_ID,
    roles: ["event-operator", "portal-admin"],
  },
];
