"use client";
import Link from "next/link";
import { usePathname } from "next/navigation";
import { useState } from "react";
import { useViewer } from "@/components/api/session";
import { signOut } from "@/components/api/sign-in";
import { Dialog } from "@/components/ui/dialog";
import { Float } from "@/components/ui/float";
import { shortId } from "@/components/ui/format";
import { Icon, Mark } from "@/components/ui/icon";
import { ThemeSwitch } from "@/components/ui/theme-switch";
import { ZoneSwitch } from "@/components/ui/time";
import { initials } from "@/components/ui/who";
import { areaOf, PAGE_NAMES, placeIn } from "./navigation";
import { HostCard, NavList, SystemFacts } from "./side-nav";

function AccountMenu({ onKeys }: { onKeys: () => void }) {
  const viewer = useViewer();
  const [leaving, setLeaving] = useState(false);
  return (
    <Float
      button={(attributes) => (
        <button className="btn g x" type="button" title={`Signed in as ${viewer.name}`} {...attributes}>
          <span className="vh">Signed in as {viewer.name}</span>
          <span className="avatar" aria-hidden="true">
            {initials(viewer.name)}
          </span>
        </button>
      )}
    >
      {(close) => (
        <>
          <p className="mh">
            Signed in as
            <strong>{viewer.name}</strong>
          </p>
          <button
            type="button"
            onClick={() => {
              close();
              onKeys();
            }}
          >
            <Icon name="keys" />
            All keys
            <span className="push">
              <kbd>?</kbd>
            </span>
          </button>
          <button
            type="button"
            aria-disabled={leaving}
            onClick={() => {
              if (leaving) return;
              setLeaving(true);
              void signOut().then(() => location.assign("/sign-in"));
            }}
          >
            <Icon name="exit" />
            {leaving ? "Signing out" : "Sign out"}
          </button>
        </>
      )}
    </Float>
  );
}

function PhoneMenu() {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button className="menu-btn" type="button" aria-label="Menu" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <Icon name="menu" />
      </button>
      {open ? (
        <Dialog
          title="Menu"
          look="sheet"
          onClose={() => setOpen(false)}
          header={
            <span className="brand">
              <Mark />
              Event Admin
            </span>
          }
        >
          <HostCard />
          <NavList onNavigate={() => setOpen(false)} />
          <SystemFacts />
          <ZoneSwitch />
        </Dialog>
      ) : null}
    </>
  );
}

/** Where the viewer is: the area, and the artifact below it. */
function Crumbs() {
  const path = usePathname();
  const area = areaOf(path);
  if (!area) return <nav className="crumbs" aria-label="You are here" />;
  const rest = placeIn(area, path);
  const named = PAGE_NAMES[path];
  return (
    <nav className="crumbs" aria-label="You are here">
      {rest ? (
        <>
          <Link href={area.href}>{area.name}</Link>
          <Icon name="right" small />
          <span aria-current="page" className={named ? undefined : "mono"}>
            {named ?? shortId(rest)}
          </span>
        </>
      ) : (
        <span aria-current="page">{area.name}</span>
      )}
    </nav>
  );
}

export function TopBar({ onGoTo, onKeys }: { onGoTo: () => void; onKeys: () => void }) {
  return (
    <header className="top">
      <PhoneMenu />
      <Crumbs />
      <button className="goto push" type="button" aria-haspopup="dialog" onClick={onGoTo}>
        <Icon name="search" small />
        <span>Go to id, scope, page</span>
        <kbd>/</kbd>
      </button>
      <ZoneSwitch />
      <ThemeSwitch />
      <AccountMenu onKeys={onKeys} />
    </header>
  );
}
