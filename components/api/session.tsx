"use client";
import { createContext, type ReactNode, useContext } from "react";
import { callAs } from "./call-operation";

/** What the console knows of the viewer: for display, and the host that every request names. Never roles or a token. */
export type Viewer = {
  name: string;
  hostId: string;
  /** Stable key of the person on this browser, for what is kept per person; not shown. */
  personKey: string;
  demo: boolean;
};

const Session = createContext<Viewer | undefined>(undefined);

export function ViewerProvider({ viewer, children }: { viewer: Viewer; children: ReactNode }) {
  callAs(viewer.personKey);
  return <Session.Provider value={viewer}>{children}</Session.Provider>;
}

/** The viewer of this page. Only used below the admin layout, which refuses to render without one. */
export function useViewer(): Viewer {
  const viewer = useContext(Session);
  if (!viewer) throw new Error("useViewer outside the admin layout");
  return viewer;
}
