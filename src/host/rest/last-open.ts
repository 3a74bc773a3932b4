/** Until when pull requests of the bot's were open, as lists of issues tell: each of those has the pull requests, too. */
import type { Account } from '../code-host.ts';
import { expectList } from './answer.ts';

/** A host that does not know the filters sends everybody's issues. So it is unknown whether there is one on later pages. */
const MAX_PAGES = 10;

interface ListedIssue {
  readonly state?: string | undefined;
  readonly user: { readonly id: number } | null;
  readonly pull_request?: object | null | undefined;
  readonly closed_at: string | null;
}

/**
 * Infinity: one is open. Null: there are too many pages, or the pages have none at all. As the bot has had one, a list
 * without any is not to be believed: it also comes from an index that lags behind.
 * @param pages in all states. @throws TypeError for lists of another shape.
 */
export async function lastOpen(
  bot: Account,
  pages: AsyncIterable<readonly ListedIssue[]>,
): Promise<number | null> {
  let last: number | null = null;
  let count = 0;
  for await (const page of pages) {
    if ((count += 1) > MAX_PAGES) return null;
    for (const { user, pull_request: pull, state, closed_at: closedAt } of expectList(page)) {
      if (user?.id !== bot.id || pull === null || pull === undefined) continue;
      if (state === 'open') return Infinity;
      const at = Date.parse(closedAt ?? '');
      if (Number.isNaN(at)) throw new TypeError('the host does not say when it was closed');
      last = Math.max(last ?? 0, at);
    }
  }
  return last;
}
