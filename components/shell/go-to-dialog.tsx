"use client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { getEventReplay } from "@/components/api/replay";
import { useViewer } from "@/components/api/session";
import { requestHref } from "@/components/event-replay/request/replay-words";
import { failureHref } from "@/components/event-replay/words";
import { Dialog } from "@/components/ui/dialog";
import { Icon } from "@/components/ui/icon";
import { goToHits, goToId } from "./go-to";

/**
 * One field that leads anywhere: an id, a scope, an event type, a code or a page. Arrows choose, Enter goes. Whether an id is
 * a request's is asked of the server; Enter waits for that answer, so that a pasted id opens what it names.
 */
export function GoToDialog({ onClose }: { onClose: () => void }) {
  const router = useRouter();
  const client = useQueryClient();
  const { hostId } = useViewer();
  const [text, setText] = useState("");
  const [active, setActive] = useState(0);
  const id = goToId(text);
  const lookUp = { ...getEventReplay(hostId, id ?? ""), retry: false, refetchInterval: false as const };
  const request = useQuery({ ...lookUp, enabled: id !== undefined });
  const hits = goToHits(text, request.isSuccess);
  const at = Math.min(active, Math.max(0, hits.length - 1));
  const go = (href: string) => {
    onClose();
    router.push(href);
  };
  return (
    <Dialog
      title="Go to"
      look="seek"
      onClose={onClose}
      header={
        <label className="find grow">
          <span className="vh">Go to id, scope, page</span>
          <Icon name="search" small />
          <input
            autoFocus
            value={text}
            maxLength={1024}
            autoComplete="off"
            spellCheck={false}
            placeholder="Failure, request, transaction or event id, Type:key, event type, code, page"
            role="combobox"
            aria-expanded="true"
            aria-controls="go-to-hits"
            aria-activedescendant={hits[at] ? `go-to-${at}` : undefined}
            onChange={(event) => {
              setText(event.target.value);
              setActive(0);
            }}
            onKeyDown={(event) => {
              if (event.key === "ArrowDown" || event.key === "ArrowUp") {
                event.preventDefault();
                const step = event.key === "ArrowDown" ? 1 : -1;
                setActive((at + step + hits.length) % Math.max(1, hits.length));
              }
              const hit = hits[at];
              if (event.key === "Enter" && hit) {
                event.preventDefault();
                if (at > 0 || id === undefined || !request.isLoading) go(hit.href);
                else
                  void client.fetchQuery(lookUp).then(
                    () => go(requestHref(id)),
                    () => go(failureHref(id)),
                  );
              }
            }}
          />
        </label>
      }
    >
      {hits.length === 0 ? <p className="m">No page of this name.</p> : null}
      <div className="hits" id="go-to-hits" role="listbox" aria-label="Places">
        {hits.map((hit, i) => (
          <button
            key={hit.href}
            id={`go-to-${i}`}
            type="button"
            role="option"
            tabIndex={-1}
            aria-selected={i === at}
            data-active={i === at}
            onClick={() => go(hit.href)}
          >
            <span>{hit.name}</span>
            <span className="push">{hit.kind}</span>
          </button>
        ))}
      </div>
    </Dialog>
  );
}
