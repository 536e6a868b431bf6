"use client";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { Dialog } from "@/components/ui/dialog";
import { Icon } from "@/components/ui/icon";
import { goToHits } from "./go-to";

/** One field that leads anywhere: an id, a scope, an event type, a code or a page. Arrows choose, Enter goes. */
export function GoToDialog({ onClose }: { onClose: () => void }) {
  const router = useRouter();
  const [text, setText] = useState("");
  const [active, setActive] = useState(0);
  const hits = goToHits(text);
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
            placeholder="Failure, transaction or event id, Type:key, event type, code, page"
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
                go(hit.href);
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
