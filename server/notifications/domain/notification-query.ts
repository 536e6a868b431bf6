/** What the notification page asks for, after its JSON texts are read. Column names only from the list below. */
export type NotificationQuery = {
  readonly sort: readonly { readonly column: SortColumn; readonly desc: boolean }[];
  readonly userId: string | null;
  readonly nonce: string | null;
  readonly eventClass: string | null;
  readonly aggregateType: string | null;
  readonly aggregateId: string | null;
  readonly transactionId: string | null;
  readonly statuses: readonly NotificationStatus[] | null;
  readonly processed: boolean | null;
  /** Half-open range of processTs, ISO. */
  readonly processTs: { readonly from: string; readonly to: string } | null;
  readonly error: string | null;
  readonly anywhere: string | null;
  /** A filter that no row can meet (event JSON is not stored). */
  readonly impossible: boolean;
};

export const SORTS = {
  processTs: "process_ts",
  eventTs: "event_ts",
  status: "status",
  eventClass: "event_class",
  aggregateType: "aggregate_type",
  aggregateId: "aggregate_id",
  aggregateVersion: "aggregate_version",
  nonce: "nonce",
  error: "error",
  userId: "user_id",
  eventPartition: "event_partition",
  eventOffset: "event_offset",
  transactionId: "transaction_id",
  readTs: "read_ts",
} as const;
export type SortColumn = (typeof SORTS)[keyof typeof SORTS];

const STATUSES = ["PENDING", "SUCCEEDED", "FAILED", "DLQ", "SKIPPED"] as const;
export type NotificationStatus = (typeof STATUSES)[number];

export type RawQuery = {
  readonly sorting?: string | null | undefined;
  readonly filters?: string | null | undefined;
  readonly globalFilter?: string | null | undefined;
  readonly userId?: string | null | undefined;
  readonly nonce?: string | number | null | undefined;
  readonly eventClass?: string | null | undefined;
  readonly status?: string | null | undefined;
  readonly processFlag?: string | null | undefined;
  readonly processTime?: string | null | undefined;
  readonly eventJson?: string | null | undefined;
  readonly error?: string | null | undefined;
};

/** The query, or the member that cannot be read. Clients send every filter twice, as its own member and in `filters`: the member wins. */
export function readQuery(raw: RawQuery): { ok: true; query: NotificationQuery } | { ok: false; field: string } {
  const sort = readSorting(raw.sorting);
  if (sort === null) return { ok: false, field: "/sorting" };
  const filters = readFilters(raw.filters);
  if (filters === null) return { ok: false, field: "/filters" };
  const text = (member: string | number | null | undefined, id: string) =>
    filled(member) ?? filled(filters.get(id)?.[0]);
  const statuses = readStatuses(filled(raw.status)?.split(",") ?? filters.get("status") ?? []);
  if (statuses === null) return { ok: false, field: "/status" };
  const time = text(raw.processTime, "processTs");
  const processTs = time === null ? null : instantRange(time);
  if (time !== null && processTs === null) return { ok: false, field: "/processTime" };
  const nonce = text(raw.nonce, "nonce");
  if (nonce !== null && !/^\d{1,20}$/.test(nonce)) return { ok: false, field: "/nonce" };
  return {
    ok: true,
    query: {
      sort,
      userId: text(raw.userId, "userId"),
      nonce,
      eventClass: text(raw.eventClass, "eventClass"),
      aggregateType: text(null, "aggregateType") ?? null,
      aggregateId: text(null, "aggregateId"),
      transactionId: text(null, "transactionId"),
      statuses: statuses.length === 0 ? null : statuses,
      processed: raw.processFlag === "Y" ? true : raw.processFlag === "N" ? false : null,
      processTs,
      error: text(raw.error, "error"),
      anywhere: filled(raw.globalFilter),
      impossible: text(raw.eventJson, "eventJson") !== null,
    },
  };
}

function readSorting(text: string | null | undefined): NotificationQuery["sort"] | null {
  const list = readList(text);
  if (list === null || list.length > 3) return null;
  const sort: { column: SortColumn; desc: boolean }[] = [];
  for (const { id, desc } of list as { id?: unknown; desc?: unknown }[]) {
    if (typeof id !== "string" || !Object.hasOwn(SORTS, id) || (desc !== undefined && typeof desc !== "boolean"))
      return null;
    sort.push({ column: SORTS[id as keyof typeof SORTS], desc: desc === true });
  }
  return sort.length === 0 ? [{ column: "process_ts", desc: true }] : sort;
}

/** Filter values by column id, as lists of text. Ids that the page knows and we don't store are kept and never looked at. */
function readFilters(text: string | null | undefined): Map<string, string[]> | null {
  const list = readList(text);
  if (list === null || list.length > 30) return null;
  const filters = new Map<string, string[]>();
  for (const { id, value } of list as { id?: unknown; value?: unknown }[]) {
    if (typeof id !== "string" || id.length > 64) return null;
    const values = (Array.isArray(value) ? value : [value]).filter((v) => v !== null && v !== undefined);
    if (!values.every((v) => (typeof v === "string" && v.length <= 255) || typeof v === "number") || values.length > 20)
      return null;
    filters.set(id, values.map(String));
  }
  return filters;
}

function readList(text: string | null | undefined): readonly object[] | null {
  if (text === null || text === undefined || text === "") return [];
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return null;
  }
  if (!Array.isArray(parsed)) return null;
  return parsed.every((item) => item !== null && typeof item === "object" && !Array.isArray(item)) ? parsed : null;
}

function readStatuses(texts: readonly string[]): NotificationStatus[] | null {
  const wanted = texts.map((text) => text.trim()).filter((text) => text !== "");
  return wanted.every((text): text is NotificationStatus => (STATUSES as readonly string[]).includes(text))
    ? wanted
    : null;
}

/** A day, minute or second in UTC as a half-open range: "2026-11-30", "2026-11-30T08:44", "2026-11-30 08:44:10". */
function instantRange(text: string): { from: string; to: string } | null {
  const m = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d))?)?(?:\.\d+)?Z?$/.exec(text);
  if (!m) return null;
  const seconds = m[2] === undefined ? 86_400 : m[3] === undefined ? 60 : 1;
  const from = new Date(`${m[1]}T${m[2] ?? "00:00"}:${m[3] ?? "00"}.000Z`);
  if (Number.isNaN(from.getTime()) || !from.toISOString().startsWith(m[1] as string)) return null;
  return { from: from.toISOString(), to: new Date(from.getTime() + seconds * 1000).toISOString() };
}

/** Control characters cannot be in any stored text and PostgreSQL refuses some of them: such a filter is no filter. */
function filled(value: string | number | null | undefined): string | null {
  const text = value === null || value === undefined ? "" : String(value).trim();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  return text === "" ? null : text.replace(/[\u0000-\u001f]/g, "");
}
