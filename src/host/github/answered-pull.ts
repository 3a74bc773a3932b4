/** A pull request as the host's REST interface answers with it. */
import { expectAddress, expectNumber, expectRepository, expectText } from '../rest/answer.ts';
import type { PullRequest } from '../code-host.ts';
import { isRequestFailure, refusalDetails } from '../rest/request-failure.ts';

/** A pull request in a list, or by itself. */
interface AnsweredPull {
  readonly number: number;
  readonly html_url: string;
  readonly state: string;
  readonly base: { readonly ref: string };
  readonly head: AnsweredHead;
}

/** GitHub's types promise a repository and a user; its answers have none where they were deleted. */
interface AnsweredHead {
  readonly label: string | null;
  readonly ref: string;
  readonly user: { readonly login: string } | null;
  readonly repo: { readonly name: string; readonly owner: { readonly login: string } } | null;
}

export function toPullRequest({ number, html_url, state, base, head }: AnsweredPull): PullRequest {
  return {
    number: expectNumber(number),
    url: expectAddress(html_url),
    isOpen: state === 'open',
    base: expectText(base.ref),
    fork: head.repo === null ? null : expectRepository(head.repo),
  };
}

/** Whether a pull request is the one of this head, `owner:branch`. Logins are compared without regard to case. */
export function isFrom(wanted: string, { label, ref, user }: AnsweredHead): boolean {
  const names = [label, user === null ? null : `${user.login}:${ref}`];
  return names.some((name) => name?.toLowerCase() === wanted.toLowerCase());
}

/** A branch that was pushed a moment ago may not be known to the REST interface yet: 422, `head` `invalid`. */
export function isHeadUnknown(error: unknown): boolean {
  if (!isRequestFailure(error) || error.status !== 422) return false;
  return refusalDetails(error).some(({ field, code }) => field === 'head' && code === 'invalid');
}
