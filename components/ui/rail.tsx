/** Where the projection of a scope stands, the versions open before it, the recovered ones, and what waits behind. */
export type RailProps = {
  /** Null: nothing of this scope has been projected. */
  at: number | null;
  open?: readonly number[];
  /** How many are open when `open` holds only the first of them. */
  openTotal?: number;
  done?: readonly number[];
  parked?: number;
  /** Appended later and not projected yet. */
  waiting?: number;
};

const DRAWN = 4;

/** The rail read aloud: "Projected at 4, open 5, 6, 7, 2 parked". */
export function railLabel({
  at,
  open = [],
  openTotal = open.length,
  done = [],
  parked = 0,
  waiting = 0,
}: RailProps): string {
  const more = openTotal - open.length;
  return [
    at === null ? "Nothing projected yet" : `Projected at ${at}`,
    open.length ? `open ${open.join(", ")}${more > 0 ? ` and ${more} more` : ""}` : "",
    done.length ? `recovered ${done.join(", ")}` : "",
    parked ? `${parked} parked` : "",
    waiting ? `${waiting} appended later` : "",
  ]
    .filter(Boolean)
    .join(", ");
}

/** The version rail, the product's own mark: a box is a version, the bar is where the projection stands. */
export function Rail(props: RailProps) {
  const { at, open = [], done = [], parked = 0, waiting = 0 } = props;
  const shown = open.slice(0, DRAWN);
  const more = (props.openTotal ?? open.length) - shown.length;
  return (
    <span className="rail" role="img" aria-label={railLabel(props)}>
      <span className="vc at">{at ?? "–"}</span>
      {done.slice(0, DRAWN).map((v) => (
        <span className="vc d" key={`d${v}`}>
          {v}
        </span>
      ))}
      {shown.map((v) => (
        <span className="vc f" key={v}>
          {v}
        </span>
      ))}
      {more > 0 ? <span className="vc f">+{more}</span> : null}
      {parked + waiting > 0 ? <span className="vc k">+{parked + waiting}</span> : null}
    </span>
  );
}

/** The legend of the rail; `waiting` names the dashed box where one is drawn. */
export function RailLegend({ waiting }: { waiting?: boolean }) {
  return (
    <div className="legend">
      <span>
        <i className="lg" />
        projected
      </span>
      <span>
        <i className="lg atl" />
        projection is here
      </span>
      <span>
        <i className="lg open" />
        failed, open
      </span>
      {waiting ? (
        <span>
          <i className="lg park" />
          appended later, waits behind it
        </span>
      ) : null}
    </div>
  );
}
