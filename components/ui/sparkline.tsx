const BAR = 4;
const HEIGHT = 20;

/**
 * Hourly arrivals as bars, oldest first. The last hours are red when they hold arrivals ("still coming"). Read aloud as
 * one sentence.
 */
export function Sparkline({ values, label, hot = 1 }: { values: readonly number[]; label: string; hot?: number }) {
  const top = Math.max(1, ...values);
  const total = values.reduce((sum, v) => sum + v, 0);
  return (
    <svg
      className="spark"
      viewBox={`0 0 ${values.length * BAR} ${HEIGHT}`}
      role="img"
      aria-label={`${label}: ${total} in ${values.length} hours, ${values.at(-1) ?? 0} in the last`}
    >
      {values.map((v, i) => {
        const h = v === 0 ? 1 : Math.max(2, Math.round((v / top) * (HEIGHT - 1)));
        return (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: the position is the hour
            key={i}
            x={i * BAR}
            y={HEIGHT - h}
            width="3"
            height={h}
            opacity={v === 0 ? 0.45 : undefined}
            className={v > 0 && i >= values.length - hot ? "hot" : undefined}
          />
        );
      })}
    </svg>
  );
}
