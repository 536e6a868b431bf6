import type { NotificationItem } from "@/server/contracts/notifications";

export type Pattern = {
  key: string;
  eventClass: string;
  aggregateType: string | null;
  sentence: string;
  count: number;
  newestTs: string;
};

const MOST = 5;

/**
 * What repeats among the newest failed notifications: same event class, aggregate type and error, more than once, the
 * most frequent five. For orientation only; the causes that can be acted on are those of the failures page.
 */
export function repeatedPatterns(items: readonly NotificationItem[]): Pattern[] {
  const patterns = new Map<string, Pattern>();
  for (const n of items) {
    const key = JSON.stringify([n.eventClass, n.aggregateType, n.error]);
    const seen = patterns.get(key);
    if (!seen) {
      patterns.set(key, {
        key,
        eventClass: n.eventClass,
        aggregateType: n.aggregateType,
        sentence: n.errorSentence ?? n.error ?? "No code was kept",
        count: 1,
        newestTs: n.processTs,
      });
    } else {
      seen.count += 1;
      if (n.processTs > seen.newestTs) seen.newestTs = n.processTs;
    }
  }
  return [...patterns.values()]
    .filter((p) => p.count > 1)
    .sort((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1))
    .slice(0, MOST);
}
