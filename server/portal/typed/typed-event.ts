import type { EventHandler } from "@/server/event-replay/projection/domain/types";
import type { DataValidator, PolicyEntry, RepairSchema } from "@/server/event-replay/registry/domain/policy";

/**
 * One typed event: everything an adopter adds for it lives in one folder and reaches the product through this object. The
 * entry names the validator and the repair schema; the form entry is written to forms/Forms.json by its generator.
 */
export type TypedEvent = {
  readonly entry: PolicyEntry;
  readonly validator: DataValidator;
  readonly repairSchema: RepairSchema;
  readonly handler: EventHandler;
  readonly form: { readonly key: string; readonly entry: Readonly<Record<string, unknown>> };
};
