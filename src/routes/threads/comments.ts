/**
 * Posts comments: the JSON endpoints (contract, 4.1 and 4.2), and the functions that the form
 * shares with them. To hosts, comments of a pull request are those of the issue with its number.
 */
import { type Context, Hono } from 'hono';
import * as z from 'zod';
import { recordName, REPOSITORY_PATH } from '../../config/hosts.ts';
import { accountLimits } from '../../config/config.ts';
import {
  type CommentOutcome,
  type CommentRequest,
  mayBePosted,
} from '../../durable/identity/comment-request.ts';
import type { AppEnv } from '../../env.ts';
import { openHostAccess, payerIn } from '../../host-access.ts';
import { hostFailureOf, isRefusedByHost } from '../../words/host-error.ts';
import { openThreads } from '../../host/open.ts';
import type { MemoryHold } from '../../isolate/memory-budget.ts';
import { unknownDenial } from '../../limits/port.ts';
import type { Limit } from '../../limits/sliding-window.ts';
import { commentClaim, quotaNamesOf, targetKey } from '../../limits/claim.ts';
import { identityOf } from '../../objects.ts';
import { INVALID_NAME, type RepositoryName } from '../../words/repository-name.ts';
import { serviceSecret } from '../../secret/open-secret.ts';
import { mayBeListed } from '../../stats/recorded-hashes.ts';
import { characters, exceededRoom, MAX_TEXT_CHARACTERS } from '../../text/footer.ts';
import { FENCE_IS_OPEN, footerProblem } from '../../text/footer-room.ts';
import { readMarkdown } from '../../text/markdown.ts';
import { noiseProblem } from '../../text/noise.ts';
import { answer, asJson, described, error, repositoryParams } from '../description.ts';
import { clientOf } from '../../service/scope.ts';
import { creationLimitsOf, targetOf } from '../../service/limits.ts';
import { refusedToPost, refusePost } from '../request/limits.ts';
import { checkPayload, isBlankText, publicText, readJsonObject } from '../request/payload.ts';
import { publishedOrigin } from '../request/public-origin.ts';
import { invalidField, type Refused, refused, retryAfter, writeRefusal } from '../request/refused.ts';
import {
  idempotencyHeader,
  onPost,
  POST_FAULTS,
  postOnce,
  type PostOutcome,
  pseudonymOn,
  sentRequest,
} from './posting.ts';
import { hostScopeOf, scopeOf } from '../request/scope.ts';

/** The contract's words (section 7). */
export const BLOCKED = 'hash bloqueado por reportes';
export const COOLDOWN = 'cooldown activo por reportes';

export const MAX_TOKEN_CHARACTERS = 256;

const commentRequest = z.object({
  body: publicText('body').meta({ description: 'Markdown; more than white space.', examples: ['Thanks!'] }),
  user_token: publicText('user_token')
    .max(MAX_TOKEN_CHARACTERS, { error: `user_token must have at most ${MAX_TOKEN_CHARACTERS} characters` })
    .nullish()
    .meta({
      description:
        'The token of an earlier comment, to write under the same pseudonym. Without it, you get a new one.',
    }),
});

const commentAnswer = z
  .object({
    comment_url: z.url().meta({ description: 'The posted comment.' }),
    hash: z.string().meta({ description: "The author's pseudonym on this thread.", examples: ['1a2b3c4d'] }),
    karma: z.int().min(0).meta({ description: 'Karma on this thread after this comment.' }),
    user_token: z
      .string()
      .meta({ description: 'Send it to write under the same pseudonym again. Nobody can recover it.' }),
  })
  .meta({ description: 'A comment was posted.' });

const threadParams = repositoryParams.extend({
  number: z
    .int()
    .min(1)
    .meta({ description: 'The number of the issue or pull request.', examples: [1] }),
});

const ENDPOINTS = [
  { path: 'issues', operationId: 'commentOnIssue', summary: 'Comment on an issue' },
  { path: 'pulls', operationId: 'commentOnPullRequest', summary: 'Comment on a pull request' },
];

export const comments = new Hono<AppEnv>();

for (const { path, ...names } of ENDPOINTS)
  comments.post(
    `${REPOSITORY_PATH}/${path}/:number/comments/anonymous`,
    described(onPost(answerComment), {
      ...names,
      description:
        'The bot posts the comment, with a footer that shows the pseudonym. Markdown that would hide or forge the footer is refused. The same token gives the same pseudonym on the same thread, and another one on another thread.',
      tag: 'Comments and issues',
      path: threadParams,
      header: idempotencyHeader,
      json: commentRequest,
      responses: {
        200: answer('The comment was posted.', asJson(commentAnswer)),
        400: error(
          'The request is not valid, or the code host refused it.',
          ['body is required', 'invalid-field'],
          ['invalid issue number', 'invalid-field'],
          ['invalid payload', 'invalid-payload'],
          INVALID_NAME,
          [FENCE_IS_OPEN, 'invalid-field'],
          ['failed to create comment: 404 Not Found', 'not-created'],
        ),
        403: error(
          'The pseudonym is blocked, the repository does not accept anonymous comments, or a page of another site must not send this.',
          [BLOCKED, 'blocked'],
        ),
        429: error(
          'The pseudonym must wait, the client or all clients together have posted too much, or little is left to the bot account. Retry-After says how long.',
          [COOLDOWN, 'cooldown'],
        ),
        ...POST_FAULTS,
      },
    }),
  );

async function answerComment(
  c: Context<AppEnv>,
  repository: RepositoryName,
  memory: MemoryHold,
): Promise<Response | Refused> {
  // The order of these checks is the contract's (section 7).
  const payload = await readJsonObject(c, memory);
  if (payload.kind === 'payload' && isBlankText(payload.fields['body']))
    return invalidField('body is required');
  const text = c.req.param('number') ?? '';
  const number = Number(text);
  if (!/^[1-9]\d*$/.test(text) || !Number.isSafeInteger(number)) return invalidField('invalid issue number');
  if (payload.kind === 'refused') return payload;
  const request = await sentRequest(c, payload.fields);
  if (request.kind === 'refused') return request;
  const checked = await checkComment(c, repository, payload.fields);
  if (checked.kind === 'refused') return checked;
  const userToken = checked.userToken || request.userToken;
  const post = (limits: readonly Limit[]) =>
    postComment(c, repository, number, { ...checked, userToken }, limits);
  const outcome = await postOnce(c, repository, 'comments', request, post, number);
  if (outcome.kind === 'refused') return outcome;
  const { url, karma } = outcome.posted;
  const hash = await pseudonymOn(c, repository, number, userToken);
  return c.json<z.infer<typeof commentAnswer>>({ comment_url: url, hash, karma, user_token: userToken });
}

/** The body of a comment, and the token of its author; empty for a new author. */
type CommentDraft = Readonly<Record<'body' | 'userToken', string>>;

/**
 * Checks whether the text may be posted. Counts an attempt before Markdown is read, because a text
 * that is refused costs as much to read.
 */
export async function checkComment(
  c: Context<AppEnv>,
  repository: RepositoryName,
  payload: unknown,
): Promise<({ readonly kind: 'comment' } & CommentDraft) | Refused> {
  const checked = checkPayload(commentRequest, payload);
  if (checked.kind === 'refused') return checked;
  const tooMany = await refusePost(c);
  if (tooMany !== null) return tooMany;
  const { body, user_token: userToken } = checked.fields;
  // The exact limit depends on the footer, so the pseudonym's object tells it.
  const isTooLong = characters(body) > MAX_TEXT_CHARACTERS;
  const where = { hostUrl: c.var.host.url, repository };
  const markdown = readMarkdown(isTooLong ? '' : body);
  const problem = footerProblem(markdown) ?? noiseProblem({ body: markdown }, where);
  if (problem !== null) return invalidField(problem);
  return { kind: 'comment', body, userToken: userToken ?? '' };
}

/**
 * Posts a comment, as `post` of `postOnce`.
 * @param policyLimits those of the repository's policy.
 */
export async function postComment(
  c: Context<AppEnv>,
  repository: RepositoryName,
  number: number,
  { body, userToken }: CommentDraft,
  policyLimits: readonly Limit[],
): Promise<PostOutcome> {
  const { config, host } = c.var;
  const hash = await pseudonymOn(c, repository, number, userToken);
  const thread = await targetOf(hostScopeOf(c), repository, number, policyLimits);
  const secret = await serviceSecret(c.env, config.identitySecret);
  const inRepository = targetKey(secret, recordName(host, repository));
  const by = quotaNamesOf(await clientOf(scopeOf(c)));
  const request: CommentRequest = {
    id: crypto.randomUUID(),
    host: host.key,
    owner: repository.owner,
    repo: repository.name,
    number,
    body,
    origin: publishedOrigin(c.req.raw, config),
    // The pseudonym's object reserves it, because only that knows whether the pseudonym may write.
    claim: commentClaim(by, inRepository, thread, accountLimits(config, host)),
  };
  const outcome = (await refusedNew(c, hash, request)) ?? (await askPseudonym(c, hash, request));
  switch (outcome.kind) {
    case 'posted':
      return { kind: 'posted', posted: { url: outcome.url, number, karma: outcome.karma } };
    case 'blocked':
      return refused(403, BLOCKED, {}, 'blocked');
    case 'cooldown':
      return refused(429, COOLDOWN, { 'Retry-After': retryAfter(outcome.leftMs) }, 'cooldown');
    case 'too-long':
      return invalidField(`body must have at most ${outcome.maxCharacters} characters`);
    case 'denied':
      return refusedToPost(c, outcome, thread);
    case 'busy':
      return refused(503, 'too many comments with this token at once; try again in a minute', {
        'Retry-After': '60',
      });
    case 'failed':
      return writeRefusal(c, 'comment', outcome.failure);
  }
}

/** Has the pseudonym's object post the comment. Never rejects. */
async function askPseudonym(
  c: Context<AppEnv>,
  hash: string,
  request: CommentRequest,
): Promise<CommentOutcome> {
  try {
    return await identityOf(c.env, hash).comment(request);
  } catch (cause) {
    c.var.logger.error('an identity did not answer', { error: cause });
    // If the object's machine dies, nobody knows whether the comment was posted.
    if (c.env.ONE_MACHINE === undefined || mayBePosted(request.id))
      return { kind: 'failed', failure: hostFailureOf(cause) };
    return unknownDenial(cause);
  }
}

/**
 * Says why a pseudonym that has never posted would be refused, without asking its object: on one
 * machine, that would leave a file.
 * @returns null if it may be posted, or only the object can tell.
 */
async function refusedNew(
  c: Context<AppEnv>,
  hash: string,
  { owner, repo: name, number, body, origin, claim }: CommentRequest,
): Promise<CommentOutcome | null> {
  const scope = hostScopeOf(c);
  if (c.env.ONE_MACHINE === undefined || (await mayBeListed(c.env.DB, hash, scope.logger))) return null;
  const maxCharacters = exceededRoom(body, { hash, karma: 1, origin });
  if (maxCharacters !== null) return { kind: 'too-long', maxCharacters };
  const payer = await payerIn(scope, { owner, name });
  const denied = await creationLimitsOf(scope, payer).denial(claim, false);
  if (denied !== null) return denied;
  try {
    await openThreads(openHostAccess(scope)).expectThread({ owner, name }, number);
    return null;
  } catch (cause) {
    if (!isRefusedByHost(cause)) return null;
    // A host that lacks this call may have the thread all the same: posting will tell.
    const isSure = cause.code !== 'missing' || cause.failure.knowsCall === true;
    return isSure ? { kind: 'failed', failure: cause.failure } : null;
  }
}
