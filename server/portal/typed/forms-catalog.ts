import { TYPED_EVENTS } from "./typed-events";

/** What forms/Forms.json holds: one entry per typed event, under its form's key. The console imports the file, not this. */
export function formsCatalog(): Readonly<Record<string, unknown>> {
  return Object.fromEntries(TYPED_EVENTS.map(({ form }) => [form.key, form.entry]));
}
