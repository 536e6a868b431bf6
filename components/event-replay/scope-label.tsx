import { ScopeText } from "@/components/ui/id-text";
import { scopeParts } from "./words";

type Scope = { scopeType: "AGGREGATE" | "GRAPH_ROOT"; scopeKey: string };

/** `Type:key`, and `v7` when the version is given. */
export function ScopeLabel({
  scope,
  version,
  copy = false,
}: {
  scope: Scope;
  version?: number | null;
  copy?: boolean;
}) {
  const parts = scopeParts(scope);
  const label = <ScopeText type={parts.type} keyText={parts.keyText} copy={copy} />;
  if (version === undefined || version === null) return label;
  return (
    <span>
      {label} <span className="m">v{version}</span>
    </span>
  );
}
