/** The heads of pull requests in GitHub's answers. */
import { isRequestFailure, refusalDetails } from '../rest/request-failure.ts';

/** GitHub's types promise a user; its answers have none where the account was deleted. */
interface AnsweredHead {
  readonly label: string | null;
  readonly ref: string;
  readonly user: { readonly login: string } | null;
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
