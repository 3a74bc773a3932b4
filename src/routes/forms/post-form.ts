/** Posts what a form holds, once. */
import type { Context } from 'hono';
import type { AppEnv } from '../../env.ts';
import type { FormSecrets } from '../../forms/form-secrets.ts';
import { countAct } from '../../middleware/measure.ts';
import type { RepositoryName } from '../../repository-name.ts';
import { postOnce, type PostOutcome } from '../threads/post-once.ts';
import { refusePosting } from '../threads/posting.ts';

/** What a form posts: in words, and how it is counted. */
const KINDS = {
  issues: { what: 'issue', counter: 'gitveil_issues_total' },
  comments: { what: 'reply', counter: 'gitveil_comments_total' },
} as const;

/** @param post is called at most once for all forms of these secrets, and only if `refusePosting` lets it pass. */
export async function postForm(
  c: Context<AppEnv>,
  target: RepositoryName,
  kind: keyof typeof KINDS,
  secrets: FormSecrets,
  post: () => Promise<PostOutcome>,
): Promise<PostOutcome> {
  const { what, counter } = KINDS[kind];
  const counted = (outcome: PostOutcome): PostOutcome => {
    countAct(counter, outcome.kind === 'refused' ? outcome.status : 200);
    return outcome;
  };
  // First, because a form that is refused must not reach the account’s object.
  const refusal = await refusePosting(c, target, kind);
  if (refusal !== null) return counted(refusal);
  // What was typed is in the name.
  const name = { name: secrets('name'), content: '' };
  return postOnce(c, name, { what, sent: 'form' }, async () => counted(await post()));
}
