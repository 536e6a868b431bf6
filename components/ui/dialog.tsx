"use client";
import { type ReactNode, useEffect, useId, useRef } from "react";
import { IconButton } from "./button";

/**
 * A modal dialog on the browser's own element: focus moves in and back, Escape and the backdrop close it, the page
 * behind is inert. Rendered only while open, so its state never survives a close.
 */
export function Dialog(props: {
  title: string;
  onClose: () => void;
  children: ReactNode;
  footer?: ReactNode;
  /** "sheet" is the phone menu at the left edge, "seek" the go-to field. */
  look?: "sheet" | "seek";
  header?: ReactNode;
}) {
  const ref = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const dialog = ref.current;
    if (dialog && !dialog.open) dialog.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={ref}
      className={props.look}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        props.onClose();
      }}
      onClick={(event) => {
        if (event.target === ref.current) props.onClose();
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") {
          event.stopPropagation();
          event.preventDefault();
          props.onClose();
        }
      }}
    >
      <div className="dh">
        {props.header ?? <h2 id={titleId}>{props.title}</h2>}
        {props.header ? (
          <h2 id={titleId} className="vh">
            {props.title}
          </h2>
        ) : null}
        <span className="push">
          <IconButton icon="close" label={`Close ${props.title.toLowerCase()}`} onClick={props.onClose} />
        </span>
      </div>
      <div className="db">{props.children}</div>
      {props.footer ? <div className="df">{props.footer}</div> : null}
    </dialog>
  );
}
