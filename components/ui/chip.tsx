"use client";
import { useEffect, useRef, useState } from "react";
import { Float } from "./float";
import { Icon } from "./icon";

export type ChipOption = { value: string; label: string };

/** One filter: its name, its value, a list to change it, and a cross to remove it. One key each, mirrored in the URL. */
export function FilterChip(props: {
  name: string;
  value: string;
  options: readonly ChipOption[];
  onChange: (value: string) => void;
  onRemove?: (() => void) | undefined;
}) {
  const label = props.options.find((o) => o.value === props.value)?.label ?? props.value;
  return (
    <Float
      side="left"
      button={(attributes) => (
        <span className="chip">
          <span className="k">{props.name}</span>
          <button className="v" type="button" {...attributes} aria-label={`${props.name}: ${label}. Change`}>
            {label}
          </button>
          {props.onRemove ? (
            <button className="z" type="button" aria-label={`Remove the filter ${props.name}`} onClick={props.onRemove}>
              <Icon name="close" small />
            </button>
          ) : null}
        </span>
      )}
    >
      {(close) =>
        props.options.map((o) => (
          <button
            key={o.value}
            type="button"
            aria-pressed={o.value === props.value}
            onClick={() => {
              props.onChange(o.value);
              close();
            }}
          >
            {o.label}
            {o.value === props.value ? (
              <span className="push">
                <Icon name="check" small />
              </span>
            ) : null}
          </button>
        ))
      }
    </Float>
  );
}

/** Adds a filter: first which one, then its value. Renders nothing when every filter is in use. */
export function AddFilter({
  filters,
  onAdd,
}: {
  filters: readonly { key: string; name: string; options: readonly ChipOption[] }[];
  onAdd: (key: string, value: string) => void;
}) {
  const [chosen, setChosen] = useState<string>();
  if (filters.length === 0) return null;
  const filter = filters.find((f) => f.key === chosen);
  return (
    <Float
      side="left"
      button={(attributes) => (
        <button
          className="chip add"
          type="button"
          {...attributes}
          onClick={() => {
            setChosen(undefined);
            attributes.onClick();
          }}
        >
          <Icon name="plus" small />
          Filter
        </button>
      )}
    >
      {(close) =>
        filter
          ? filter.options.map((o) => (
              <button
                key={o.value}
                type="button"
                onClick={() => {
                  close();
                  onAdd(filter.key, o.value);
                }}
              >
                {o.label}
              </button>
            ))
          : filters.map((f) => (
              <button key={f.key} type="button" onClick={() => setChosen(f.key)}>
                {f.name}
                <span className="push">
                  <Icon name="right" small />
                </span>
              </button>
            ))
      }
    </Float>
  );
}

const PAUSE_MS = 350;

/** The search field of a list: applied after a short pause in typing and at once on Enter; Escape empties it. */
export function Find({
  label,
  placeholder,
  value,
  onChange,
}: {
  label: string;
  placeholder: string;
  value: string;
  onChange: (value: string) => void;
}) {
  const [text, setText] = useState(value);
  const sent = useRef(value);
  useEffect(() => {
    if (value !== sent.current) {
      sent.current = value;
      setText(value);
    }
  }, [value]);
  useEffect(() => {
    if (text === sent.current) return;
    const timer = setTimeout(() => {
      sent.current = text.trim();
      onChange(text.trim());
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, onChange]);
  return (
    <label className="find">
      <span className="vh">{label}</span>
      <Icon name="search" small />
      <input
        type="search"
        placeholder={placeholder}
        value={text}
        maxLength={200}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") {
            sent.current = text.trim();
            onChange(text.trim());
          }
          if (event.key === "Escape" && text) {
            event.stopPropagation();
            setText("");
          }
        }}
      />
    </label>
  );
}

/** Two or three views of the same rows. */
export function Segments({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: string;
  options: readonly ChipOption[];
  onChange: (value: string) => void;
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would bring its own box
    <span className="seg" role="group" aria-label={label}>
      {options.map((o) => (
        <button key={o.value} type="button" aria-pressed={o.value === value} onClick={() => onChange(o.value)}>
          {o.label}
        </button>
      ))}
    </span>
  );
}
