import { CopyButton } from "./copy-button";
import { fullDigest, shortDigest, shortId } from "./format";

/** An id, shortened for reading; the whole id is in the title and in the copy button. */
export function Id({ value, copy = true }: { value: string; copy?: boolean }) {
  return (
    <span className={copy ? "id" : "id nc"} title={value}>
      <span>{shortId(value)}</span>
      {copy ? <CopyButton text={value} label={`Copy ${shortId(value)}`} /> : null}
    </span>
  );
}

/** A digest, shortened, with its algorithm. */
export function Digest({ value, copy = true }: { value: string; copy?: boolean }) {
  const whole = fullDigest(value);
  return (
    <span className={copy ? "id" : "id nc"} title={whole}>
      <span>{shortDigest(whole)}</span>
      {copy ? <CopyButton text={whole} label={`Copy ${shortDigest(whole)}`} /> : null}
    </span>
  );
}

/** A scope: `Type:key`. `keyText` is the key without its type. */
export function ScopeText({ type, keyText, copy = true }: { type: string; keyText: string; copy?: boolean }) {
  const whole = `${type}:${keyText}`;
  return (
    <span className={copy ? "id" : "id nc"} title={whole}>
      <span className="ty">{type}</span>
      <span className="m">:</span>
      <span>{shortId(keyText)}</span>
      {copy ? <CopyButton text={whole} label={`Copy ${type} scope key`} /> : null}
    </span>
  );
}
