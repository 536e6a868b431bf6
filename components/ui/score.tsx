import { ScopeText } from "./id-text";

export type ScoreBox = {
  /** Execution position, from 1. */
  column: number;
  version: number;
  look: "open" | "this" | "sel" | "add" | "run" | "ok" | "todo";
};

export type ScoreLane = {
  type: string;
  keyText: string;
  /** "Graph root", "Aggregate". */
  rule: string;
  at: number | null;
  boxes: readonly ScoreBox[];
  parked?: number;
};

const ROW = 40;
const HEAD = 32;
const X0 = 32;
const W = 28;

/** Columns stand apart; many of them close up, as far as the widest version allows. */
const FEW = 6;
const boxWidth = (version: number) => Math.max(W, String(version).length * 7 + 12);
const columnWidth = (lanes: readonly ScoreLane[], columns: number) =>
  Math.max(columns > FEW ? 40 : 64, ...lanes.flatMap((l) => l.boxes.map((b) => boxWidth(b.version) + 12)));

const laneY = (i: number) => HEAD + i * ROW + ROW / 2;

const laneLabel = (l: ScoreLane, parkedHead: string): string => {
  const then = [...l.boxes].sort((a, b) => a.column - b.column).map((b) => b.version);
  const at = l.at === null ? "nothing projected yet" : `projected at ${l.at}`;
  return `${l.type}: ${at}${then.length ? `, then ${then.join(", ")}` : ""}${l.parked ? `, ${l.parked} ${parkedHead}` : ""}`;
};

/** Columns with a box in more than one lane, with the first and last lane: one transaction over several scopes. */
function ties(lanes: readonly ScoreLane[]): { column: number; from: number; to: number }[] {
  const rows = new Map<number, number[]>();
  lanes.forEach((lane, i) => {
    for (const b of lane.boxes) rows.set(b.column, [...(rows.get(b.column) ?? []), i]);
  });
  return [...rows]
    .filter(([, at]) => at.length > 1)
    .map(([column, at]) => ({ column, from: Math.min(...at), to: Math.max(...at) }));
}

/**
 * The score: a lane is a scope, a column a transaction in the order it runs, a box the version it writes; a vertical
 * line ties one transaction over several scopes. One label reads the drawing aloud; lanes scroll sideways in their own
 * box while the scope names stay.
 */
export function Score({
  lanes,
  columns,
  highlight,
  label,
  parkedHead = "parked",
  atHead = "now at",
}: {
  lanes: readonly ScoreLane[];
  columns: number;
  highlight?: number;
  label: string;
  /** Head over the dashed boxes: "parked" behind a barrier, "later" for what was appended after. */
  parkedHead?: string;
  /** Head over the first box: "was at" once the boxes say what became of them. */
  atHead?: string;
}) {
  const column = columnWidth(lanes, columns);
  const boxX = (at: number) => X0 + at * column;
  const parked = lanes.some((l) => l.parked);
  const parkX = boxX(columns) + column + 12;
  const height = HEAD + lanes.length * ROW;
  const width = (parked ? parkX : boxX(columns)) + 44;
  return (
    <div className="score">
      <ul className="lanes">
        <li className="hd">Scope</li>
        {lanes.map((l) => (
          <li key={`${l.type}:${l.keyText}`}>
            <ScopeText type={l.type} keyText={l.keyText} copy={false} />
            <span className="m sm">
              <span className="u">{l.type}, </span>
              {l.rule}
            </span>
          </li>
        ))}
      </ul>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
      <section className="draw" tabIndex={0} aria-label={label}>
        <svg
          width="100%"
          height={height}
          style={{ minWidth: width }}
          role="img"
          aria-label={lanes.map((l) => laneLabel(l, parkedHead)).join(". ")}
        >
          {highlight ? <rect className="hl" x={boxX(highlight) - 30} y="0" width="60" height={height} /> : null}
          <text x={X0} y="20">
            {atHead}
          </text>
          {Array.from({ length: columns }, (_, i) => (
            <text key={boxX(i + 1)} x={boxX(i + 1)} y="20">
              {i + 1}
            </text>
          ))}
          {parked ? (
            <text x={parkX} y="20">
              {parkedHead}
            </text>
          ) : null}
          {lanes.map((l, i) => (
            <line
              className="grid"
              key={`${l.type}:${l.keyText}`}
              x1="0"
              x2="100%"
              y1={HEAD + i * ROW - 0.5}
              y2={HEAD + i * ROW - 0.5}
            />
          ))}
          {lanes.map((l, i) => {
            const last = Math.max(0, ...l.boxes.map((b) => b.column));
            const y = laneY(i);
            return (
              <g key={`${l.type}:${l.keyText}`}>
                <line className="lane" x1={X0} x2={boxX(last)} y1={y} y2={y} />
                {l.parked ? <line className="lane pend" x1={boxX(last)} x2={parkX} y1={y} y2={y} /> : null}
              </g>
            );
          })}
          {ties(lanes).map((t) => (
            <line
              className="tie"
              key={t.column}
              x1={boxX(t.column)}
              x2={boxX(t.column)}
              y1={laneY(t.from)}
              y2={laneY(t.to)}
            />
          ))}
          {lanes.map((l, i) => {
            const y = laneY(i);
            return (
              <g key={`${l.type}:${l.keyText}`}>
                <g className="at">
                  <rect x={X0 - W / 2} y={y - 10} width={W} height="20" rx="4" />
                  <text x={X0} y={y + 4}>
                    {l.at ?? "–"}
                  </text>
                  <line x1={X0 + 18} x2={X0 + 18} y1={y - 10} y2={y + 10} />
                </g>
                {l.boxes.map((b) => {
                  const wide = boxWidth(b.version);
                  return (
                    <g className={b.look} key={b.column}>
                      <rect x={boxX(b.column) - wide / 2} y={y - 10} width={wide} height="20" rx="4" />
                      <text x={boxX(b.column)} y={y + 4}>
                        {b.version}
                      </text>
                    </g>
                  );
                })}
                {l.parked ? (
                  <g className="park">
                    <rect x={parkX - 16} y={y - 10} width="32" height="20" rx="4" />
                    <text x={parkX} y={y + 4}>
                      +{l.parked}
                    </text>
                  </g>
                ) : null}
              </g>
            );
          })}
        </svg>
      </section>
    </div>
  );
}
