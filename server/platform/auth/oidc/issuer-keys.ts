import { createLocalJWKSet, errors, type FlattenedJWSInput, type JSONWebKeySet, type JWSHeaderParameters } from "jose";
import { log } from "@/server/platform/log";

/** The provider could not be asked for its keys: whether a token is good is unknown, which is not the same as bad. */
export class ProviderUnreachable extends Error {
  constructor() {
    super("the identity provider does not answer");
    this.name = "ProviderUnreachable";
  }
}

/** Keys are asked for again after this time, so that one the provider withdrew stops counting. */
const FRESH_MS = 10 * 60_000;
/** While the provider is down, the keys it gave last serve on: recovery must be possible during an outage. */
const STALE_MS = 12 * 3_600_000;
/** Between two requests, whatever is asked: forged tokens with invented key ids can't make us hammer the provider. */
const PAUSE_MS = 5_000;
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 512 * 1024;

type KeyFinder = ReturnType<typeof createLocalJWKSet>;
type Loaded = { readonly find: KeyFinder; readonly atMs: number };

/**
 * The signing keys of one issuer, found through its discovery document and cached. A key id that isn't among them makes it ask
 * again, so that rotated keys work at once.
 */
export class IssuerKeys {
  private loaded: Loaded | null = null;
  private askedMs = Number.NEGATIVE_INFINITY;
  private asking: Promise<void> | null = null;

  constructor(
    private readonly issuer: string,
    private readonly clock: () => number = () => performance.now(),
  ) {}

  /** The key of this token's header. Throws a JOSEError when there is none, ProviderUnreachable when that can't be known. */
  async find(header: JWSHeaderParameters, token: FlattenedJWSInput): ReturnType<KeyFinder> {
    const known = await this.current();
    try {
      return await known.find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || !(await this.refresh())) throw error;
      return await (await this.current()).find(header, token);
    }
  }

  private async current(): Promise<Loaded> {
    const age = this.loaded === null ? Number.POSITIVE_INFINITY : this.clock() - this.loaded.atMs;
    if (age > FRESH_MS) await this.refresh();
    if (this.loaded === null || this.clock() - this.loaded.atMs > STALE_MS) throw new ProviderUnreachable();
    return this.loaded;
  }

  /** Asks the provider unless it was asked just now; all who wait share one request. True when new keys came. */
  private async refresh(): Promise<boolean> {
    const before = this.loaded;
    if (this.asking === null && this.clock() - this.askedMs >= PAUSE_MS) {
      this.askedMs = this.clock();
      this.asking = this.load().finally(() => {
        this.asking = null;
      });
    }
    await this.asking;
    return this.loaded !== before;
  }

  private async load(): Promise<void> {
    try {
      const at = `${this.issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
      const { issuer, jwks_uri: address } = (await getJson(at)) as { issuer?: unknown; jwks_uri?: unknown };
      if (issuer !== this.issuer || typeof address !== "string") throw new Error("not the issuer's own document");
      if (new URL(address).protocol !== "https:" && new URL(this.issuer).protocol === "https:")
        throw new Error("no https");
      this.loaded = { find: createLocalJWKSet((await getJson(address)) as JSONWebKeySet), atMs: this.clock() };
    } catch {
      log.error("the identity provider gave no keys", { component: "oidc" });
    }
  }
}

async function getJson(address: string): Promise<unknown> {
  const response = await fetch(address, {
    headers: { accept: "application/json" },
    redirect: "error",
    cache: "no-store",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const text = await response.text();
  if (response.status !== 200 || text.length > MAX_BYTES) throw new Error("no usable answer");
  return JSON.parse(text);
}

const issuers = new Map<string, IssuerKeys>();

/** The keys of an issuer, once a process. */
export function keysOf(issuer: string): IssuerKeys {
  let keys = issuers.get(issuer);
  if (!keys) {
    keys = new IssuerKeys(issuer);
    issuers.set(issuer, keys);
  }
  return keys;
}
