import Link from "next/link";
import { type ButtonHTMLAttributes, type ReactNode, useId } from "react";
import { Icon, type IconName } from "./icon";

export type ButtonLook = "primary" | "secondary" | "ghost" | "danger";

const LOOK: Record<ButtonLook, string> = { primary: "p", secondary: "", ghost: "g", danger: "d" };

const classes = (look: ButtonLook, small?: boolean, wide?: boolean): string =>
  ["btn", LOOK[look], small ? "t" : "", wide ? "w" : ""].filter(Boolean).join(" ");

export type ButtonProps = Omit<ButtonHTMLAttributes<HTMLButtonElement>, "className" | "disabled"> & {
  look?: ButtonLook;
  icon?: IconName;
  small?: boolean;
  wide?: boolean;
  /** One sentence: why the viewer may not press it, and who or what would change that. Present = not pressable. */
  disabledReason?: string | undefined;
};

/**
 * A button that explains itself. With `disabledReason` it keeps its place and stays focusable, does nothing, and shows
 * a lock with the sentence below; it is never hidden and never explained by a tooltip alone.
 */
export function Button({
  look = "secondary",
  icon,
  small,
  wide,
  disabledReason,
  children,
  onClick,
  ...rest
}: ButtonProps) {
  const why = useId();
  const off = disabledReason !== undefined;
  const button = (
    <button
      type="button"
      {...rest}
      className={classes(off ? "secondary" : look, small, wide)}
      aria-disabled={off || rest["aria-disabled"] || undefined}
      aria-describedby={off ? why : rest["aria-describedby"]}
      onClick={off ? (event) => event.preventDefault() : onClick}
    >
      {icon ? <Icon name={icon} small /> : null}
      {children}
    </button>
  );
  if (!off) return button;
  return (
    <div className="act">
      {button}
      <p className="why" id={why}>
        <Icon name="lock" small />
        <span>{disabledReason}</span>
      </p>
    </div>
  );
}

/** A link that looks like a button: it leads somewhere and changes nothing. */
export function ButtonLink(props: {
  href: string;
  look?: ButtonLook;
  icon?: IconName;
  small?: boolean;
  wide?: boolean;
  children: ReactNode;
}) {
  return (
    <Link className={classes(props.look ?? "secondary", props.small, props.wide)} href={props.href}>
      {props.icon ? <Icon name={props.icon} small /> : null}
      {props.children}
    </Link>
  );
}

/** Icon alone: only for copy, close, theme and menu. The label is what assistive technology reads. */
export function IconButton({
  label,
  icon,
  ...rest
}: Omit<ButtonHTMLAttributes<HTMLButtonElement>, "className"> & { label: string; icon: IconName }) {
  return (
    <button type="button" {...rest} className="btn g x" aria-label={label} title={label}>
      <Icon name={icon} />
    </button>
  );
}
