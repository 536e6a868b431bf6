import type { Scope } from "@/server/event-replay/registry/domain/scopes";
import type { Tx } from "@/server/platform/db/transaction";
import type { ScopeStanding } from "./domain/continuity";
import type { PreparedTransaction } from "./domain/prepare";
import type { ExecutionMode, ProjectionDefinition, ProjectionTransaction } from "./domain/types";
import {
  compareHostScopes,
  type HostScope,
  hostScopeId,
  insertProjectedTransactions,
  insertScopes,
  loadProjectedTransactions,
  loadStandings,
  updateScopes,
} from "./scope-repository";

export type BoardMark = { readonly moves: number; readonly unordered: number };

/**
 * The scopes of a list of transactions: what the database said under lock, moved along by what the list itself does. It is
 * loaded once, and saved once at the end; a caller that tries parts of the list under savepoints rewinds it as it rolls back.
 */
export class ScopeBoard {
  private readonly journal: { id: string; before: ScopeStanding | undefined }[] = [];
  private readonly unordered: ProjectionTransaction[] = [];

  private constructor(
    private readonly definition: ProjectionDefinition,
    private readonly mode: ExecutionMode,
    private readonly scopes: ReadonlyMap<string, HostScope>,
    private readonly loaded: ReadonlyMap<string, ScopeStanding>,
    private readonly standings: Map<string, ScopeStanding>,
    private readonly projected: Set<string>,
  ) {}

  static async load(
    tx: Tx,
    definition: ProjectionDefinition,
    prepared: readonly PreparedTransaction[],
    mode: ExecutionMode,
    locked: ReadonlyMap<string, ScopeStanding> | null = null,
  ): Promise<ScopeBoard> {
    const scopes = new Map<string, HostScope>();
    const unordered: ProjectionTransaction[] = [];
    for (const { transaction, runs, refusal } of prepared) {
      const { hostId } = transaction;
      for (const run of runs) scopes.set(hostScopeId(hostId, run), { hostId, type: run.type, key: run.key });
      if (runs.length === 0 && !refusal) unordered.push(transaction);
    }
    const known = locked !== null && [...scopes.keys()].every((id) => locked.has(id));
    const loaded = known ? locked : await loadStandings(tx, definition, [...scopes.values()].sort(compareHostScopes));
    const projected = new Set(await loadProjectedTransactions(tx, definition, unordered));
    return new ScopeBoard(definition, mode, scopes, loaded, new Map(loaded), projected);
  }

  standing(hostId: string, scope: Scope): ScopeStanding {
    const standing = this.standings.get(hostScopeId(hostId, scope)) ?? { projected: null, held: false };
    return this.mode === "REPLAY" && standing.held ? { ...standing, held: false } : standing;
  }

  isProjected(transaction: ProjectionTransaction): boolean {
    return this.projected.has(transactionKey(transaction));
  }

  advance({ transaction, runs }: PreparedTransaction): void {
    for (const run of runs) {
      this.change(hostScopeId(transaction.hostId, run), { projected: run.versions.at(-1) as number, held: false });
    }
    if (runs.length === 0) {
      this.unordered.push(transaction);
      this.projected.add(transactionKey(transaction));
    }
  }

  /** The transaction is or will be captured: from here on it holds its scopes. */
  hold({ transaction, runs }: PreparedTransaction): void {
    for (const run of runs) {
      const standing = this.standings.get(hostScopeId(transaction.hostId, run));
      this.change(hostScopeId(transaction.hostId, run), { projected: standing?.projected ?? null, held: true });
    }
  }

  mark(): BoardMark {
    return { moves: this.journal.length, unordered: this.unordered.length };
  }

  /** Back to the mark, as the savepoint that was set with it. */
  rewind(mark: BoardMark): void {
    for (const { id, before } of this.journal.splice(mark.moves).reverse()) {
      if (before) this.standings.set(id, before);
      else this.standings.delete(id);
    }
    for (const transaction of this.unordered.splice(mark.unordered)) this.projected.delete(transactionKey(transaction));
  }

  /** Writes what moved. New scopes belong to this lane alone and are inserted plainly; known ones are under our lock. */
  async save(tx: Tx): Promise<void> {
    const inserts: (HostScope & { version: number })[] = [];
    const updates: (HostScope & { version: number })[] = [];
    for (const [id, scope] of this.scopes) {
      const before = this.loaded.get(id)?.projected ?? null;
      const version = this.standings.get(id)?.projected ?? null;
      if (version === null || version === before) continue;
      (before === null ? inserts : updates).push({ ...scope, version });
    }
    await insertScopes(tx, this.definition, inserts.sort(compareHostScopes));
    await updateScopes(tx, this.definition, updates.sort(compareHostScopes));
    await insertProjectedTransactions(tx, this.definition, this.unordered);
  }

  private change(id: string, standing: ScopeStanding): void {
    this.journal.push({ id, before: this.standings.get(id) });
    this.standings.set(id, standing);
  }
}

function transactionKey({ hostId, transactionId }: ProjectionTransaction): string {
  return `${hostId}\u0000${transactionId}`;
}
