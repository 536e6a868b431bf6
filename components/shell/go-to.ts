import { requestHref } from "@/components/event-replay/request/replay-words";
import { failureHref } from "@/components/event-replay/words";
import { AREAS } from "./navigation";

export type GoToHit = { href: string; name: string; kind: string };

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;
const AGGREGATE_SCOPE = /^[A-Z][A-Za-z0-9]*:.+$/;

/** The id that was typed, in its canonical form, or undefined when the text is something else. */
export function goToId(typed: string): string | undefined {
  const id = typed.trim().toLowerCase();
  return UUID.test(id) ? id : undefined;
}

/**
 * Where a typed text may lead, best first: what has that id, the failures of that scope, a search, and the pages whose
 * name contains it. `isRequest`: the id is known to be a request's, which then comes first; an id says nothing of itself.
 */
export function goToHits(typed: string, isRequest = false): GoToHit[] {
  const text = typed.trim();
  const pages = AREAS.filter((a) => a.name.toLowerCase().includes(text.toLowerCase())).map((a) => ({
    href: a.href,
    name: a.name,
    kind: "page",
  }));
  if (text === "") return pages;
  const q = encodeURIComponent(text);
  const id = goToId(text);
  const hits: GoToHit[] = [];
  if (id !== undefined) {
    const byId = [
      { href: failureHref(id), name: "Failure of this id", kind: "id" },
      { href: requestHref(id), name: "Request of this id", kind: "id" },
    ];
    hits.push(...(isRequest ? byId.reverse() : byId));
    hits.push({
      href: `/event-replay/failures?view=flat&q=${q}`,
      name: "Failures with this transaction, event or root id",
      kind: "search",
    });
    hits.push({ href: `/event-replay/requests?failureId=${id}`, name: "Requests with this failure", kind: "search" });
  } else if (AGGREGATE_SCOPE.test(text)) {
    hits.push({
      href: `/event-replay/failures?view=flat&scopeType=AGGREGATE&scopeKey=${q}`,
      name: "Failures of this scope",
      kind: "scope",
    });
  } else {
    hits.push({ href: `/event-replay/failures?view=flat&q=${q}`, name: "Failures that match", kind: "search" });
  }
  return [...hits, ...pages];
}
