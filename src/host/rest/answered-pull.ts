/** A pull request as hosts answer with it, in a list or by itself. */
import type { PullRequest } from '../code-host.ts';
import { expectAddress, expectNumber, expectRepository, expectText } from './answer.ts';

interface AnsweredPull {
  readonly number: number;
  readonly html_url: string;
  readonly state: string;
  readonly base: { readonly ref: string };
  /** Without a repository where that was deleted. */
  readonly head: {
    readonly repo: { readonly name: string; readonly owner: { readonly login: string } } | null;
  };
}

/** @param branch to be merged. @throws TypeError for fields of another shape */
export function toPullRequest(
  { number, html_url, state, base, head }: AnsweredPull,
  branch: string,
): PullRequest {
  return {
    number: expectNumber(number),
    url: expectAddress(html_url),
    isOpen: state === 'open',
    base: expectText(base.ref),
    branch: expectText(branch),
    fork: head.repo === null ? null : expectRepository(head.repo),
  };
}
