/**
 * Converts what people wrote on a thread, in comments, reviews and on lines of code, as events and
 * the words of maintainers need it.
 * Proved by test/host/bad-answers.test.ts and test/sandbox/host-contract.test.ts.
 */
import type { Remark, SaidIn, Speaker } from '../code-host.ts';
import { expectAddress, expectNumber } from './answer.ts';
import type { AnsweredLine, AnsweredReview } from './conversation.ts';
import { type AnsweredComment, idOf } from './reads.ts';

/** The verdicts of GitHub's reviews, and of Gitea's (`ReviewStateType`) where these differ. */
const VERDICTS: Readonly<Record<string, Remark['kind']>> = {
  APPROVED: 'approved',
  CHANGES_REQUESTED: 'changes-requested',
  REQUEST_CHANGES: 'changes-requested',
};

/** @throws TypeError for fields of another shape. */
export function fromComment(comment: AnsweredComment): Remark {
  return { ...remarkOf('comment', comment), at: comment.created_at, kind: 'commented' };
}

/**
 * Converts a review. Every remark on a line of code belongs to one, even if it is the only one in
 * it.
 * @throws TypeError for fields of another shape.
 */
export function fromReview(review: AnsweredReview): Remark {
  const { submitted_at, state } = review;
  return {
    ...remarkOf('review', review),
    at: submitted_at ?? '',
    kind: VERDICTS[state] ?? 'reviewed',
  };
}

/** @throws TypeError for fields of another shape. */
export function fromLine(line: AnsweredLine): Remark {
  return { ...remarkOf('line', line), at: line.created_at, kind: 'commented' };
}

/** The fields that all kinds of texts share. */
interface AnsweredText {
  readonly id: number | bigint;
  readonly user: { readonly id: number | bigint; readonly login: string; readonly type?: string } | null;
  readonly html_url: string;
  readonly body?: string | null;
  readonly created_at?: string;
  readonly updated_at?: string;
  readonly author_association?: string;
  readonly performed_via_github_app?: unknown;
}

function remarkOf(of: SaidIn, text: AnsweredText) {
  const { id, user, html_url, body, created_at, updated_at, author_association } = text;
  const number = expectNumber(id);
  const remark = {
    key: `${of}:${number}`,
    authorId: idOf(user),
    url: expectAddress(html_url),
    text: body ?? '',
  };
  // A program may repeat what strangers write, and also posts in the name of a person.
  if (user === null || user.type === 'Bot' || text.performed_via_github_app) return remark;
  const by: Speaker = { login: user.login, association: author_association ?? null };
  return { ...remark, comment: { id: number, in: of, isEdited: created_at !== updated_at, by } };
}
