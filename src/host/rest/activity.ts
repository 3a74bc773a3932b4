/** What the answers about activity on pull requests have in common, whichever kind of host gives them. */
import { parseRepositoryName } from '../../repository-name.ts';
import type { ActivityCall, FeedThread, Remark } from '../code-host.ts';
import { expectAddress, expectNumber } from './answer.ts';

/** By the last word of the path; that of a pull request ends with its number, or with the name of that parameter. */
const CALLS: Readonly<Record<string, ActivityCall>> = {
  notifications: 'feed',
  user: 'account',
  comments: 'comments',
  reviews: 'reviews',
};

/** What a call is made for. @param url a template, or the address of a further page. */
export function activityCall(url: string): ActivityCall {
  const [path = ''] = url.split('?', 1);
  return CALLS[path.slice(path.lastIndexOf('/') + 1)] ?? 'pull_request';
}

/** An entry of the feed, as far as it can be relied on. */
interface AnsweredEntry {
  readonly id?: string | number | null;
  readonly subject?: { readonly type?: string; readonly url?: string | null } | null;
  readonly repository?: { readonly name?: string; readonly owner?: { readonly login?: string } } | null;
  readonly updated_at?: string | null;
}

/**
 * The pull request that an entry is about, as a list of one; empty for one about anything else, or that does not say what
 * it is about: it must not hide the others.
 * @param type as the host calls pull requests here. @throws TypeError if it is no entry of a feed at all
 */
export function pullRequestThread(entry: AnsweredEntry, type: string, isByBot: boolean): FeedThread[] {
  const { id, subject, repository: named, updated_at } = entry;
  if (subject === undefined && named === undefined) throw new TypeError('the host lists something else');
  const number = Number(/\/(?:issues|pulls)\/(\d+)$/.exec(subject?.url ?? '')?.[1]);
  const updatedAt = Date.parse(updated_at ?? '');
  const repository = parseRepositoryName(named?.owner?.login ?? '', named?.name ?? '');
  const isUsable = subject?.type === type && (id ?? '') !== '' && !Number.isNaN(number + updatedAt);
  return isUsable && repository !== null ? [{ id: String(id), isByBot, repository, number, updatedAt }] : [];
}

/** A moment as hosts compare it: ISO 8601, in whole seconds. @param ms milliseconds since 1970. */
export function moment(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

interface Answered {
  readonly id: number;
  readonly html_url: string;
  readonly user: { readonly id: number } | null;
  readonly body?: string | null;
}

/** @param since of the moments of this module. @throws TypeError for fields of another shape */
export function remarksSince(
  since: string,
  comments: readonly (Answered & { readonly created_at: string })[],
  // Every remark on a line of code belongs to a review, even if it is the only one in it.
  reviews: readonly (Answered & { readonly submitted_at?: string })[],
): readonly Remark[] {
  const remarks = [
    ...comments.map((comment) => toRemark('comment', comment, comment.created_at)),
    ...reviews.map((review) => toRemark('review', review, review.submitted_at ?? '')),
  ];
  // An old comment that was edited is no news.
  return remarks.filter(({ at }) => !(Date.parse(at) < Date.parse(since)));
}

function toRemark(kind: 'comment' | 'review', { id, user, html_url, body }: Answered, at: string): Remark {
  return {
    key: `${kind}:${expectNumber(id)}`,
    authorId: user?.id ?? null,
    url: expectAddress(html_url),
    at,
    text: body ?? '',
  };
}
