/**
 * Makes events of a pull request's state at the host. Pure. The receiver tells each key once, so a
 * second closing must have another key.
 */
import type { PullRequestState, Remark } from '../host/code-host.ts';
import { hasFooter } from '../text/footer.ts';
import { prHashOf } from '../words/pr-hash.ts';

export interface HostEvent {
  readonly key: string;
  readonly kind: Remark['kind'] | 'merged' | 'closed' | 'withdrawn';
  readonly number: number;
  readonly url: string;
}

export interface PullRequestEvents {
  readonly prHash: string;
  readonly number: number;
  /** The remarks, oldest first, and then the end. */
  readonly events: readonly HostEvent[];
}

/**
 * Gives the pr_hash of a pull request of the service; null if it is another's. The author is
 * checked, because anyone can give a branch such a name.
 */
export function ownPrHash({ branch, authorId }: PullRequestState, own: OwnAccounts): string | null {
  return isOwn(authorId, own) && branch !== null ? prHashOf(branch) : null;
}

/** The numbers of the accounts in whose names the service writes: the bot's and the App's. */
export type OwnAccounts = ReadonlySet<number>;

export function isOwn(authorId: number | null, own: OwnAccounts): boolean {
  return authorId !== null && own.has(authorId);
}

/**
 * Lists the remarks, oldest first, and then the end. The service's own remarks count only if made
 * on somebody's behalf.
 */
export function eventsOf(
  { number, url, mergedAt, closedAt }: Pick<PullRequestState, 'number' | 'url' | 'mergedAt' | 'closedAt'>,
  remarks: readonly Remark[],
  own: OwnAccounts,
): readonly HostEvent[] {
  const events: HostEvent[] = remarks
    .filter(({ authorId, text }) => !isOwn(authorId, own) || hasFooter(text))
    .toSorted((a, b) => a.at.localeCompare(b.at))
    .map((remark) => ({ key: remark.key, kind: remark.kind, number, url: remark.url }));
  // After a pull request was closed, a push may open another one from the same branch: hence the
  // number.
  if (mergedAt !== null) events.push({ key: `merged:${number}`, kind: 'merged', number, url });
  else if (closedAt !== null) events.push(closedEvent(number, closedAt, url));
  return events;
}

/**
 * @param closedAt as the host writes it.
 * @param kind `withdrawn` if its author has closed it through the service.
 */
export function closedEvent(
  number: number,
  closedAt: string,
  url: string,
  kind: 'closed' | 'withdrawn' = 'closed',
): HostEvent {
  return { key: `closed:${number}:${closedAt}`, kind, number, url };
}
