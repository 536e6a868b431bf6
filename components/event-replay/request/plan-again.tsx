"use client";
import { useRouter } from "next/navigation";
import { useViewer } from "@/components/api/session";
import { Button } from "@/components/ui/button";
import { useNow } from "@/components/ui/clock";
import { count } from "@/components/ui/format";
import { useSelection } from "../selection";
import { openSelection, type Replay } from "./request-view";

/** Where planning starts from a frozen selection. */
const PLAN_PAGE = "/event-replay/plan";

/** The way on from a plan that is over: its selected failures, as far as they are still open, become the selection. */
export function PlanAgain({ request }: { request: Replay }) {
  const { hostId, personKey } = useViewer();
  const { set, clear } = useSelection(hostId, personKey);
  const router = useRouter();
  const now = useNow();
  const open = openSelection(request);
  if (open.length === 0) return <p className="m">None of the failures it selected is open any more.</p>;
  const n = open.length;
  const of = request.selectedTransactionCount;
  return (
    <div className="row wrap">
      <Button
        small
        onClick={() => {
          clear();
          set(open, true, now);
          router.push(PLAN_PAGE);
        }}
      >
        Plan again with {count(n)}
      </Button>
      <span className="m sm">
        {n === of ? "the same selection" : `${count(n)} of ${count(of)} selected are still open`}
      </span>
    </div>
  );
}
