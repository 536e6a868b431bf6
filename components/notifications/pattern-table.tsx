"use client";
import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { getNotifications } from "@/components/api/notifications";
import { count } from "@/components/ui/format";
import { Age } from "@/components/ui/time";
import { repeatedPatterns } from "./patterns";

/** The newest rows that are looked through. */
const PATTERN_ROWS = 200;

/** What repeats among the newest failed rows, for orientation. */
export function PatternTable({ hostId, onType }: { hostId: string; onType: (type: string) => void }) {
  const { data } = useQuery(getNotifications({ hostId, offset: 0, limit: PATTERN_ROWS, status: "FAILED,DLQ" }));
  const patterns = repeatedPatterns(data?.notifications ?? []);
  if (patterns.length === 0) return null;
  return (
    <section className="patterns">
      <div className="sec-h">
        <h2>Repeated patterns</h2>
        <span className="m">
          among the newest {count(Math.min(PATTERN_ROWS, data?.notifications.length ?? 0))} failed rows
        </span>
        <Link className="push link" href="/event-replay/failures">
          Causes to act on
        </Link>
      </div>
      <div className="tw">
        <table className="tight rec">
          <caption className="vh">Repeated patterns</caption>
          <thead>
            <tr>
              <th scope="col">Why</th>
              <th scope="col">Event type</th>
              <th scope="col">Aggregate type</th>
              <th scope="col" className="r">
                Rows
              </th>
              <th scope="col">Newest</th>
            </tr>
          </thead>
          <tbody>
            {patterns.map((p) => (
              <tr key={p.key}>
                <td className="lead-s">{p.sentence}</td>
                <td data-l="Event type">
                  <button className="plain link" type="button" onClick={() => onType(p.eventClass)}>
                    {p.eventClass}
                  </button>
                </td>
                <td data-l="Aggregate">{p.aggregateType ?? "none"}</td>
                <td className="r" data-l="Rows">
                  {count(p.count)}
                </td>
                <td className="nw" data-l="Newest">
                  <Age at={p.newestTs} suffix=" ago" />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
