/** Until when pull requests of the bot's were open, as lists of issues tell: each of those has the pull requests, too. */
import type { Account } from '../code-host.ts';
import { expectList } from './answer.ts';

/** A host that does not know the filters sends everybody's issues. So it is unknown whether there is one on later pages. */
const MAX_PAGES = 10;

interface ListedIssue {
  readonly user: { readonly id: number } | null;
  readonly pull_request?: object | null | undefined;
  readonly closed_at: string | null;
}

export type IssuePages = AsyncIterable<readonly ListedIssue[]>;

/**
 * Infinity: one is open. 0: none was, as far as the pages tell.
 * @param closed asked for only if none is open. @throws TypeError for lists of another shape, or that are too long.
 */
export async function lastOpen(bot: Account, open: IssuePages, closed: () => IssuePages): Promise<number> {
  for await (const _ of pullRequestsOf(bot, open)) return Infinity;
  let last = 0;
  for await (const { closed_at: closedAt } of pullRequestsOf(bot, closed())) {
    const at = Date.parse(closedAt ?? '');
    if (Number.isNaN(at)) throw new TypeError('the host does not say when it was closed');
    last = Math.max(last, at);
  }
  return last;
}

async function* pullRequestsOf(bot: Account, pages: IssuePages): AsyncGenerator<ListedIssue> {
  let count = 0;
  for await (const page of pages) {
    if ((count += 1) > MAX_PAGES) throw new TypeError('too many issues to look through');
    yield* expectList(page).filter(
      ({ user, pull_request: pull }) => user?.id === bot.id && pull !== null && pull !== undefined,
    );
  }
}
