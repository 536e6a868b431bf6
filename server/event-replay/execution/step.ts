import type { TransactionOptions, Tx } from "@/server/platform/db/transaction";

/** Runs one transaction of a claimed execution: fence first, lease renewed with the commit. Throws LEASE_LOST. */
export type Step = <T>(name: string, body: (tx: Tx) => Promise<T>, options?: TransactionOptions) => Promise<T>;
