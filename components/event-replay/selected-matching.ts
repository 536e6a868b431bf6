/** How many of the failures that match a view are in the selection. Pure. */

type Given = {
  /** Failures that match, by cause, and how many open failures of that cause are selected, matching or not. */
  causes: readonly { count: number; selected: number }[];
  /** The view narrows by nothing else than cause: all that is selected of a cause matches. */
  byCauseOnly: boolean;
  /** Rows on the page, and those of them that are selected. */
  shown: number;
  shownSelected: number;
};

/**
 * Never more than match, and 0 when nothing tells of a matching one. Where other filters narrow the view, the rows on the page
 * are what is known: only when each of them is selected are the selected of their causes taken to match.
 */
export function selectedMatching({ causes, byCauseOnly, shown, shownSelected }: Given): number {
  const most = causes.reduce((sum, cause) => sum + Math.min(cause.count, cause.selected), 0);
  if (byCauseOnly || (shown > 0 && shownSelected === shown)) return Math.max(most, shownSelected);
  return shownSelected;
}
