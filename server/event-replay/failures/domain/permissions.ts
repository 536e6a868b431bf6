/** What is known of a failure when the page asks what may be done with it. */
export type ActionFacts = {
  readonly status: "OPEN" | "RESOLVED" | "WAIVED";
  readonly executable: boolean;
  readonly payloadAvailable: boolean;
  readonly replayPolicy: string;
  /** A member's registered type has a repair schema. */
  readonly repairForms: number;
  readonly ordered: boolean;
  /** A repair of it awaits a decision or is approved. */
  readonly repairUnderWay: boolean;
  /** A request that holds it is being executed. */
  readonly executing: boolean;
  readonly mayPlan: boolean;
  readonly mayRepair: boolean;
};

export type Permission = { readonly allowed: boolean; readonly reason: string | null };

const ALLOWED: Permission = { allowed: true, reason: null };
const no = (reason: string): Permission => ({ allowed: false, reason });

const NOT_A_PLANNER = no("Your role may read failures, not plan a replay.");

/** This version has no operation that proposes a repair, so nobody may. */
const NO_REPAIR_HERE = no("Repair by typed form is not part of this version yet. Nothing is corrected from here.");

/**
 * Whether the archived bytes may be planned for replay now; the reason says who or what would change a no. A hint for the
 * page: planning checks all of it again. A plan that only awaits approval blocks no other, since a person may want a larger one.
 */
export function replayOriginal(facts: ActionFacts): Permission {
  const blocked = notRecoverable(facts);
  if (blocked !== null) return blocked;
  if (!facts.mayPlan) return NOT_A_PLANNER;
  if (facts.executing) return no("A request that holds it is being executed. Wait for its end.");
  if (facts.repairUnderWay)
    return no(
      "A repair of it is under way. Its approved data runs by a plan that names the repair, or it is cancelled first.",
    );
  return ALLOWED;
}

/** Whether the viewer may plan a selection at all; what it holds is judged when it is planned. */
export function maySelectionBePlanned(mayPlan: boolean): Permission {
  return mayPlan ? ALLOWED : NOT_A_PLANNER;
}

/** Whether a repair may be proposed now. Repair needs a typed form for a member of the transaction. */
export function repair(facts: ActionFacts): Permission {
  const blocked = notRecoverable(facts);
  if (blocked !== null) return blocked;
  if (!facts.ordered) return no("An unordered transaction is never repaired. Replay it, or waive it.");
  if (facts.repairForms === 0)
    return no("These event types have no repair form. Their data is valid; the cause lies in the projection.");
  return facts.mayRepair ? NO_REPAIR_HERE : no("Your role may read failures, not propose a repair.");
}

function notRecoverable(facts: ActionFacts): Permission | null {
  if (facts.status === "RESOLVED") return no("It is resolved: its transaction is projected.");
  if (facts.status === "WAIVED") return no("It was waived by two people.");
  if (facts.replayPolicy === "NOT_REPLAYABLE") return no("The policy of its event types forbids replay.");
  if (!facts.executable) return no("It is kept as evidence only and can never run.");
  if (!facts.payloadAvailable) return no("Its archived bytes are no longer available.");
  return null;
}
