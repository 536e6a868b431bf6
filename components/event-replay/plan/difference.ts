import { count, many, shortId } from "@/components/ui/format";
import type { GetReplayResponse } from "@/server/contracts/replay";
import { scopeParts } from "../words";

/** A plan against the preview it was made from: what the hash covers and a person has looked at. */
export type Planned = Pick<GetReplayResponse, "items" | "planMetadata">;

export type Difference = { what: string; preview: string; plan: string };

const byId = (plan: Planned) => new Map(plan.items.map((i) => [i.failureId, i]));

const scopeName = (scope: { scopeType: "AGGREGATE" | "GRAPH_ROOT"; scopeKey: string }): string => {
  const { type, keyText } = scopeParts(scope);
  return `${type}:${keyText}`;
};

const scopesOf = (plan: Planned) =>
  new Map(
    (plan.planMetadata?.scopes ?? []).map((s) => [scopeName(s), `${s.beforeVersion ?? "nothing"} → ${s.afterVersion}`]),
  );

const LISTED = 20;

/**
 * What became different between the preview and the plan: transactions that joined or left, their order, why they are in,
 * their bytes, and where each scope stands before and after. Empty when the plan is what was shown.
 */
export function differences(preview: Planned, plan: Planned): Difference[] {
  const seen = byId(preview);
  const made = byId(plan);
  const found: Difference[] = [];
  const joined = plan.items.filter((i) => !seen.has(i.failureId)).length;
  const left = preview.items.filter((i) => !made.has(i.failureId)).length;
  if (joined + left > 0) {
    found.push({
      what: "Transactions",
      preview: count(preview.items.length),
      plan: `${count(plan.items.length)}: ${[joined > 0 ? `${count(joined)} joined` : "", left > 0 ? `${count(left)} left` : ""].filter(Boolean).join(", ")}`,
    });
  }
  const common = (of: Planned, other: ReadonlyMap<string, unknown>) =>
    of.items.filter((i) => other.has(i.failureId)).map((i) => i.failureId);
  const order = common(preview, made);
  const moved = common(plan, seen).filter((id, at) => id !== order[at]).length;
  if (moved > 0)
    found.push({
      what: "Order",
      preview: "as shown",
      plan: `${many(moved, "transaction runs", "transactions run")} at another place`,
    });
  const pairs = preview.items.flatMap((i) => {
    const other = made.get(i.failureId);
    return other ? [[i, other] as const] : [];
  });
  const bytes = pairs.filter(([a, b]) => a.expectedContentFingerprint !== b.expectedContentFingerprint).length;
  if (bytes > 0)
    found.push({
      what: "Content",
      preview: "as shown",
      plan: `${many(bytes, "transaction has", "transactions have")} another fingerprint`,
    });
  const roles = pairs.filter(([a, b]) => a.addedDependency !== b.addedDependency).length;
  if (roles > 0)
    found.push({
      what: "Selected or added",
      preview: "as shown",
      plan: `${many(roles, "transaction", "transactions")} changed`,
    });
  const before = scopesOf(preview);
  const after = scopesOf(plan);
  for (const name of [...new Set([...before.keys(), ...after.keys()])].sort()) {
    const [a, b] = [before.get(name) ?? "not held", after.get(name) ?? "not held"];
    const at = name.indexOf(":") + 1;
    if (a !== b) found.push({ what: name.slice(0, at) + shortId(name.slice(at)), preview: a, plan: b });
  }
  return found.length > LISTED
    ? [
        ...found.slice(0, LISTED),
        { what: "More", preview: "", plan: `${count(found.length - LISTED)} more differences` },
      ]
    : found;
}
