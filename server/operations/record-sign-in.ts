import { audit } from "@/server/governance/audit";
import { upsertPerson } from "@/server/platform/auth/person-repository";
import type { Pool } from "@/server/platform/db/pool";
import { inTransaction } from "@/server/platform/db/transaction";
import type { Actor } from "@/server/platform/http/operation-context";

/** Remembers a person with the roles of their token, and that they signed in: both or neither. */
export async function recordSignIn(pool: Pool, actor: Actor): Promise<void> {
  await inTransaction(pool, "sign-in", async (tx) => {
    await upsertPerson(tx, actor);
    await audit(tx, {
      hostId: actor.hostId,
      event: "PERSON_SIGNED_IN",
      actor: { type: "USER", personId: actor.personId },
    });
  });
}

/** Records the end of a session. Null: it had ended before, by its token's expiry. */
export async function recordSignOut(pool: Pool, actor: Actor | null): Promise<void> {
  if (actor === null) return;
  await inTransaction(pool, "sign-out", (tx) =>
    audit(tx, {
      hostId: actor.hostId,
      event: "PERSON_SIGNED_OUT",
      actor: { type: "USER", personId: actor.personId },
    }),
  );
}
