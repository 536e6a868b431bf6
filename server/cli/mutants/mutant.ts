/**
 * One behaviour taken away. `npm run test:mutants` applies the edit in a copy of the tree and wants the named test to turn
 * red; on the untouched copy the same test must be green.
 */
export type Mutant = {
  /** Requirement id; the test's title must carry it. */
  readonly id: string;
  /** What the edit takes away, for the table. */
  readonly removes: string;
  /** File to edit, relative to the repository. */
  readonly file: string;
  /** Exact text that occurs once in the file. */
  readonly find: string;
  readonly replace: string;
  /** Test file, relative to the repository. */
  readonly test: string;
  /** Part of the test's title. */
  readonly title: string;
};
