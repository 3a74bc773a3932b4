/** What the answers about activity on pull requests have in common, whichever kind of host gives them. */
import type { ActivityCall, Remark } from '../code-host.ts';
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
