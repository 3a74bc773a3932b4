/** Posts an anonymous comment, for the JSON endpoint and for the form: the same checks, in the same order. */
import type { Context } from 'hono';
import * as z from 'zod';
import { recordName } from '../../config/hosts.ts';
import type { CommentOutcome, CommentRequest } from '../../durable/identity/identity.ts';
import type { AppEnv } from '../../env.ts';
import { hostFailureOf } from '../../host-error.ts';
import type { RepositoryName } from '../../repository-name.ts';
import { characters, MAX_TEXT_CHARACTERS } from '../../text/footer.ts';
import { footerProblem } from '../../text/footer-room.ts';
import { readMarkdown } from '../../text/markdown.ts';
import { noiseProblem } from '../../text/noise.ts';
import { identityHash } from '../../secret/keyed-hash.ts';
import { serviceSecret } from '../../secret/open-secret.ts';
import { newUserToken } from '../../secret/user-token.ts';
import { identityOf } from '../../objects.ts';
import { commentWants, shareOf, targetKey } from '../../limits/wants.ts';
import { clientOf } from '../request/client.ts';
import { publishedOrigin } from '../request/public-origin.ts';
import { type NamedTarget, refusedToPost, refuseTooMany } from '../request/limits.ts';
import { invalidField, type Refused, refused, retryAfter, writeRefusal } from '../request/refused.ts';
import { checkPayload, publicText } from '../request/payload.ts';
import type { PostOutcome } from './post-once.ts';
import { countPost, postingTarget } from './posting.ts';

export const MAX_TOKEN_CHARACTERS = 256;

export const commentRequest = z.object({
  body: publicText('body').meta({ description: 'Markdown; more than white space.', examples: ['Thanks!'] }),
  user_token: publicText('user_token')
    .max(MAX_TOKEN_CHARACTERS, { error: `user_token must have at most ${MAX_TOKEN_CHARACTERS} characters` })
    .nullish()
    .meta({
      description:
        'The token of an earlier comment, to write under the same pseudonym. Without it, you get a new one.',
    }),
});

export const commentAnswer = z
  .object({
    comment_url: z.url().meta({ description: 'The posted comment.' }),
    hash: z.string().meta({ description: "The author's pseudonym on this thread.", examples: ['1a2b3c4d'] }),
    karma: z.int().min(0).meta({ description: 'Karma on this thread after this comment.' }),
    user_token: z
      .string()
      .meta({ description: 'Send it to write under the same pseudonym again. Nobody can recover it.' }),
  })
  .meta({ description: 'A comment was posted.' });

/** An issue or a pull request. */
export interface ThreadName {
  readonly repository: RepositoryName;
  readonly number: number;
}

export interface CheckedComment {
  readonly kind: 'comment';
  readonly body: string;
  readonly userToken: string;
}

/**
 * Whether a comment may be posted, as far as that depends on its text. Counts an attempt of the client, before its
 * Markdown is read: a refused text must not cost the service more than a posted one.
 * @param payload the fields of the JSON endpoint. @param ownToken takes the place of a missing one.
 */
export async function checkComment(
  c: Context<AppEnv>,
  repository: RepositoryName,
  payload: unknown,
  ownToken = newUserToken(),
): Promise<CheckedComment | Refused> {
  const checked = checkPayload(commentRequest, payload);
  if (checked.kind === 'refused') return checked;
  const tooMany = await refuseTooMany(c, 'comments');
  if (tooMany !== null) return tooMany;
  const { body, user_token: userToken } = checked.fields;
  // The pseudonym knows how long a body may be.
  const isTooLong = characters(body) > MAX_TEXT_CHARACTERS;
  const where = { hostUrl: c.var.host.url, repository };
  const markdown = readMarkdown(isTooLong ? '' : body);
  const problem = footerProblem(markdown) ?? noiseProblem({ body: markdown }, where);
  if (problem !== null) return invalidField(problem);
  return { kind: 'comment', body, userToken: userToken || ownToken };
}

/** The pseudonym of a token on a thread. */
export async function pseudonymOn(
  c: Context<AppEnv>,
  { repository, number }: ThreadName,
  userToken: string,
): Promise<string> {
  const secret = await serviceSecret(c.env, c.var.config.identitySecret);
  return identityHash(secret, `${recordName(c.var.host, repository)}#${number}`, userToken);
}

/** After `refusePosting` has let it pass. */
export async function postComment(
  c: Context<AppEnv>,
  { repository, number }: ThreadName,
  { body, userToken }: CheckedComment,
): Promise<PostOutcome> {
  const hash = await pseudonymOn(c, { repository, number }, userToken);
  const thread = await postingTarget(c, repository, number);
  const secret = await serviceSecret(c.env, c.var.config.identitySecret);
  const inRepository = targetKey(secret, recordName(c.var.host, repository));
  const by = shareOf(await clientOf(c));
  const outcome = await post(c, hash, {
    host: c.var.host.key,
    owner: repository.owner,
    repo: repository.name,
    number,
    body,
    origin: publishedOrigin(c.req.raw, c.var.config),
    // Reserved there: only the pseudonym knows whether it may write.
    wants: commentWants(by, inRepository, thread, c.var.config.limits.creations),
  });
  if (outcome.kind !== 'posted') return refusalOf(c, outcome, thread);
  const { url, karma } = outcome;
  countPost(c);
  return { kind: 'posted', url, number, karma };
}

/**
 * Passes the comment to its identity's object. If that object's machine dies, nobody knows whether the comment was
 * posted.
 */
async function post(c: Context<AppEnv>, hash: string, request: CommentRequest): Promise<CommentOutcome> {
  try {
    return await identityOf(c.env, hash).comment(request);
  } catch (error) {
    c.var.logger.error('an identity did not answer', { error });
    return { kind: 'failed', failure: hostFailureOf(error) };
  }
}

function refusalOf(
  c: Context<AppEnv>,
  outcome: Exclude<CommentOutcome, { kind: 'posted' }>,
  thread: NamedTarget,
): Refused {
  switch (outcome.kind) {
    case 'blocked':
      return refused(403, BLOCKED, {}, 'blocked');
    case 'cooldown':
      return refused(429, COOLDOWN, { 'Retry-After': retryAfter(outcome.leftMs) }, 'cooldown');
    case 'too-long':
      return invalidField(`body must have at most ${outcome.maxCharacters} characters`);
    case 'wait':
      return refusedToPost(c, outcome.wait, thread);
    case 'busy':
      return refused(503, 'too many comments with this token at once; try again in a minute', {
        'Retry-After': '60',
      });
    case 'failed':
      return writeRefusal(c, 'comment', outcome.failure);
  }
}

/** The contract's words (section 7). */
export const BLOCKED = 'hash bloqueado por reportes';
export const COOLDOWN = 'cooldown activo por reportes';
