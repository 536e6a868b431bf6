"use client";
import { useQuery } from "@tanstack/react-query";
import { demoState, useDemoCommands } from "@/components/api/demo";
import { asProblem } from "@/components/api/problem";
import { listEventReplay } from "@/components/api/replay";
import { useViewer } from "@/components/api/session";
import { openTotal } from "@/components/event-replay/approvals/inbox-view";
import { waitingForMe } from "@/components/shell/inbox-read";
import { Button } from "@/components/ui/button";
import { many } from "@/components/ui/format";
import { Icon } from "@/components/ui/icon";
import { ExactTime } from "@/components/ui/time";
import { DEMO_STEPS, demoStep } from "./demo-steps";

/** Demo mode's strip: plants a database defect, so that there is something to find, and takes it away again. */
export function DemoBar({ open = 0 }: { open?: number | undefined }) {
  const { hostId } = useViewer();
  const inbox = useQuery(listEventReplay(waitingForMe(hostId)));
  const approved = useQuery(listEventReplay({ hostId, statuses: ["APPROVED"], pageSize: 5 }));
  const { data } = useQuery(demoState(hostId));
  const { breakProjection, fixHandler } = useDemoCommands(hostId);
  const busy = breakProjection.isPending || fixHandler.isPending;
  const error = breakProjection.error ?? fixHandler.error;
  const broken = data?.broken ?? false;
  const planned = inbox.data
    ? openTotal(inbox.data.counts) + (approved.data?.items.filter((request) => !request.stale).length ?? 0)
    : 0;
  const step = demoStep({ broken, open, planned });
  const run = (command: typeof breakProjection | typeof fixHandler) => {
    if (busy) return;
    breakProjection.reset();
    fixHandler.reset();
    command.mutate();
  };
  return (
    <>
      <div className="demo">
        <span className="row nw">
          <Icon name="play" small />
          <span className="md">Demo mode</span>
        </span>
        <ol>
          {DEMO_STEPS.map((name, i) => (
            <li key={name} className={i === step ? "now" : undefined} aria-current={i === step ? "step" : undefined}>
              <span className="no">{i + 1}</span>
              {name}
            </li>
          ))}
        </ol>
        <span className="row push">
          {broken && data?.sinceTs ? (
            <span className="m nw hide-s">
              Defect on since <ExactTime at={data.sinceTs} plain />
            </span>
          ) : null}
          <Button
            small
            look={broken ? "secondary" : "primary"}
            aria-disabled={busy}
            disabledReason={data && !data.mayChange ? "Operators of the host may break and fix the demo." : undefined}
            onClick={() => run(breakProjection)}
          >
            {breakProjection.isPending ? "Breaking" : broken ? "Break again" : "Break a projection"}
          </Button>
          {broken && data?.mayChange ? (
            <Button small look="primary" aria-disabled={busy} onClick={() => run(fixHandler)}>
              {fixHandler.isPending ? "Fixing" : "Fix the handler"}
            </Button>
          ) : null}
        </span>
      </div>
      <p className="demo-said sm m" role="status">
        {error ? <span className="err">{asProblem(error).message}</span> : null}
        {breakProjection.data
          ? `The defect is on. ${many(breakProjection.data.appended, "transaction")} appended${breakProjection.data.refused > 0 ? `, ${breakProjection.data.refused} refused because their scope is blocked` : ""}. Failures show up within seconds.`
          : null}
        {fixHandler.data
          ? "The defect is off. New work projects again; captured failures stay open until someone replays them: plan it, and a second person approves."
          : null}
      </p>
    </>
  );
}
