import type { JWTPayload } from "jose";
import type { OidcConfig } from "@/server/platform/config-oidc";
import type { Actor } from "@/server/platform/http/operation-context";
import { isCanonicalUuid } from "@/server/platform/ids";

/** Why a token that its issuer did sign makes nobody an actor here. */
export type ClaimProblem = "NOT_AN_ACCESS_TOKEN" | "SUBJECT" | "HOST";

export type ClaimReading =
  | { readonly ok: true; readonly actor: Actor }
  | { readonly ok: false; readonly problem: ClaimProblem };

export type ClaimNames = Pick<OidcConfig, "issuer" | "hostClaim" | "roleClaim" | "userClaim">;

/** Width of person_id; a subject that was cut could be somebody else's. */
const MAX_PERSON_ID = 255;
const MAX_ROLES = 500;
/** Control characters; lone surrogates can't be stored as text. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}]/u;

/**
 * What the claims of a verified token say: the person (issuer and subject, byte for byte: never a name, an e-mail address or
 * another case of them), the host, the roles. Pure; the signature, times, issuer and audience are judged before.
 */
export function readClaims(payload: JWTPayload, names: ClaimNames): ClaimReading {
  if (isOtherToken(payload)) return { ok: false, problem: "NOT_AN_ACCESS_TOKEN" };
  const { sub } = payload;
  if (typeof sub !== "string" || sub.trim() === "" || UNPRINTABLE.test(sub)) return { ok: false, problem: "SUBJECT" };
  const personId = `${names.issuer}|${sub}`;
  if (personId.length > MAX_PERSON_ID) return { ok: false, problem: "SUBJECT" };
  const host = claim(payload, names.hostClaim);
  const hostId = typeof host === "string" ? host.toLowerCase() : null;
  if (!isCanonicalUuid(hostId)) return { ok: false, problem: "HOST" };
  const user = claim(payload, names.userClaim);
  const userId = typeof user === "string" ? user.trim() : "";
  return {
    ok: true,
    actor: {
      personId,
      userId: isCanonicalUuid(userId.toLowerCase()) ? userId.toLowerCase() : "",
      hostId,
      roles: readRoles(claim(payload, names.roleClaim)),
      name: readName(payload) ?? sub,
      human: userId !== "" && !isMachine(payload),
    },
  };
}

/** An ID token, a refresh token or a logout token of the same issuer and audience is no licence to call anything. */
function isOtherToken(payload: JWTPayload): boolean {
  const { typ } = payload;
  return (
    Object.hasOwn(payload, "at_hash") ||
    Object.hasOwn(payload, "c_hash") ||
    Object.hasOwn(payload, "events") ||
    (typeof typ === "string" && /^(id|refresh|offline|logout)$/i.test(typ))
  );
}

/**
 * Marks by which providers tell a client's own token from a person's: the client is its subject (RFC 9068), a grant or identity
 * type that says so, or an actor that stands in for the person (RFC 8693).
 */
function isMachine(payload: JWTPayload): boolean {
  const { sub, client_id: clientId, azp, gty, grant_type: grantType, idtyp } = payload;
  return (
    clientId === sub ||
    azp === sub ||
    (typeof azp === "string" && sub === `${azp}@clients`) ||
    [gty, grantType].some((grant) => typeof grant === "string" && /client[-_]credentials/.test(grant)) ||
    idtyp === "app" ||
    Object.hasOwn(payload, "act")
  );
}

/** A text of names apart by space, or a list of names; anything else grants nothing. */
function readRoles(value: unknown): string[] {
  const parts = typeof value === "string" ? value.split(/\s+/) : Array.isArray(value) ? value : [];
  const names = parts.filter((part): part is string => typeof part === "string" && part !== "" && part.length <= 255);
  return [...new Set(names)].filter((name) => !UNPRINTABLE.test(name)).slice(0, MAX_ROLES);
}

/** Also what isn't seen or turns the text round it: a name must not look like another person's. */
const NOT_IN_A_NAME = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** For display alone. */
function readName({ name, preferred_username: username }: JWTPayload): string | null {
  for (const text of [name, username]) {
    const plain = typeof text === "string" ? text.replace(NOT_IN_A_NAME, " ").trim() : "";
    if (plain !== "") return plain.slice(0, 255);
  }
  return null;
}

/** The claim of exactly this name, else the one at the end of the dotted path. */
function claim(payload: JWTPayload, name: string): unknown {
  if (Object.hasOwn(payload, name)) return payload[name];
  let value: unknown = payload;
  for (const step of name.split(".")) {
    if (value === null || typeof value !== "object" || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string, unknown>)[step];
  }
  return value;
}
