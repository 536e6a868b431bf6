/** What is known of a failure when the page asks what may be done with it. */
export type ActionFacts = {
  readonly status: "OPEN" | "RESOLVED" | "WAIVED";
  readonly executable: boolean;
  readonly payloadAvailable: boolean;
  readonly replayPolicy: string;
  /** A member's registered type has a repair schema. */
  readonly repairForms: number;
  readonly ordered: boolean;
  readonly mayPlan: boolean;
  readonly mayRepair: boolean;
};

export type Permission = { readonly allowed: boolean; readonly reason: string | null };

const no = (reason: string): Permission => ({ allowed: false, reason });

/** This version has no operation that plans a replay or proposes a repair, so nobody may. */
const NOT_HERE = no("Planning and repair are not part of this console yet; nothing can run from here.");

/** Whether the archived bytes may be planned for replay now; the reason says who or what would change a no. */
export function replayOriginal(facts: ActionFacts): Permission {
  return notRecoverable(facts) ?? (facts.mayPlan ? NOT_HERE : no("Your role may read failures, not plan a replay."));
}

/** Whether a repair may be proposed now. Repair needs a typed form for a member of the transaction. */
export function repair(facts: ActionFacts): Permission {
  const blocked = notRecoverable(facts);
  if (blocked !== null) return blocked;
  if (!facts.ordered) return no("An unordered transaction is never repaired. Replay it, or waive it.");
  if (facts.repairForms === 0)
    return no("These event types have no repair form. Their data is valid; the cause lies in the projection.");
  return facts.mayRepair ? NOT_HERE : no("Your role may read failures, not propose a repair.");
}

function notRecoverable(facts: ActionFacts): Permission | null {
  if (facts.status === "RESOLVED") return no("It is resolved: its transaction is projected.");
  if (facts.status === "WAIVED") return no("It was waived by two people.");
  if (facts.replayPolicy === "NOT_REPLAYABLE") return no("The policy of its event types forbids replay.");
  if (!facts.executable) return no("It is kept as evidence only and can never run.");
  if (!facts.payloadAvailable) return no("Its archived bytes are no longer available.");
  return null;
}
