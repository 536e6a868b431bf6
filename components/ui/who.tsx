/** Two letters of a name, for the small disc beside it: of its first two words, or the first two of its only one. */
export function initials(name: string): string {
  const words = name.split(/[\s.@_-]+/).filter(Boolean);
  return ((words[0]?.[0] ?? "?") + (words[1]?.[0] ?? words[0]?.[1] ?? "")).toUpperCase();
}

/** A person in a table: disc and name. `you` replaces the name; a name is for display alone. */
export function Who({ name, you = false }: { name: string | null; you?: boolean }) {
  const shown = you ? "You" : (name ?? "Not seen here yet");
  return (
    <span className="who">
      <span className="avatar s" aria-hidden="true">
        {name === null ? "?" : initials(name)}
      </span>
      <span className="t1" title={name ?? undefined}>
        {shown}
      </span>
    </span>
  );
}
