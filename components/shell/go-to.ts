import { AREAS } from "./navigation";

export type GoToHit = { href: string; name: string; kind: string };

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;
const AGGREGATE_SCOPE = /^[A-Z][A-Za-z0-9]*:.+$/;

/**
 * Where a typed text may lead, best first: the failure of that id, the failures of that scope, a search, and the pages
 * whose name contains it. Nothing is looked up; the page says when it finds nothing.
 */
export function goToHits(typed: string): GoToHit[] {
  const text = typed.trim();
  const pages = AREAS.filter((a) => a.name.toLowerCase().includes(text.toLowerCase())).map((a) => ({
    href: a.href,
    name: a.name,
    kind: "page",
  }));
  if (text === "") return pages;
  const q = encodeURIComponent(text);
  const hits: GoToHit[] = [];
  if (UUID.test(text.toLowerCase())) {
    hits.push({ href: `/event-replay/failures/${text.toLowerCase()}`, name: "Failure of this id", kind: "id" });
    hits.push({
      href: `/event-replay/failures?view=flat&q=${q}`,
      name: "Failures with this transaction, event or root id",
      kind: "search",
    });
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
