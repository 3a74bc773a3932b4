/**
 * Anonymous comments on issues and pull requests (contract, 4.1 and 4.2). Both paths do the same: on the host a pull
 * request's general comments are those of the issue of its number.
 *
 * A request that is repeated after a lost answer posts a second comment: it looks the same as an author who says the
 * same thing twice.
 */
import { type Context, Hono } from 'hono';
import type { CommentOutcome, CommentRequest } from '../../durable/identity.ts';
import { recordName } from '../../config/hosts.ts';
import type { AppEnv } from '../../env.ts';
import type { RepositoryName } from '../../host/repository-name.ts';
import { MAX_TEXT_CHARACTERS, characters } from '../../identity/footer.ts';
import { footerProblem } from '../../identity/footer-room.ts';
import { identityHash } from '../../identity/keyed-hash.ts';
import { serviceSecret } from '../../identity/service-secret.ts';
import { newUserToken } from '../../identity/user-token.ts';
import { identityOf } from '../request/identity.ts';
import { readJsonObject } from '../request/json-body.ts';
import { onRepository, REPOSITORY_PATH } from '../request/repository.ts';
import { publicOrigin } from '../request/public-origin.ts';
import { type CommentAnswer, commentRequest } from '../schemas/comments.ts';
import { isBlank, payloadProblem } from '../schemas/text.ts';
import { beginPosting } from './posting.ts';
import { refuseWithoutBot, retryAfter, writeRefusal } from '../request/write-refusal.ts';

export const comments = new Hono<AppEnv>();

for (const thread of ['issues', 'pulls']) {
  comments.post(`${REPOSITORY_PATH}/${thread}/:number/comments/anonymous`, onRepository(comment));
}

async function comment(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  // The order of these checks is the contract's (section 7).
  const payload = await readJsonObject(c);
  if (payload.kind === 'object' && isBlank(payload.value['body'])) {
    return c.json({ error: 'body is required' }, 400);
  }
  const number = threadNumber(c.req.param('number') ?? '');
  if (number === null) return c.json({ error: 'invalid issue number' }, 400);
  if (payload.kind === 'invalid') return c.json({ error: 'invalid payload' }, 400);
  const parsed = commentRequest.safeParse(payload.value);
  if (!parsed.success) return c.json({ error: payloadProblem(parsed.error) }, 400);
  // The pseudonym knows how long a body may be.
  const isTooLong = characters(parsed.data.body) > MAX_TEXT_CHARACTERS;
  const problem = isTooLong ? null : footerProblem(parsed.data.body);
  if (problem !== null) return c.json({ error: problem }, 400);

  const posting = refuseWithoutBot(c) ?? (await beginPosting(c, target, 'comments'));
  if (posting instanceof Response) return posting;

  const userToken = parsed.data.user_token || newUserToken();
  const secret = await serviceSecret(c.env, c.var.config.identitySecret);
  const hash = identityHash(secret, `${recordName(c.var.host, target)}#${number}`, userToken);
  const outcome = await post(c, hash, {
    host: c.var.host.key,
    owner: target.owner,
    repo: target.name,
    number,
    body: parsed.data.body,
    origin: publicOrigin(c.req.raw, c.var.config),
  });
  if (outcome.kind !== 'posted') {
    // Without an answer of the host it may be there.
    if (outcome.kind !== 'failed' || outcome.failure.kind !== 'unreachable') posting.cancel();
    return refused(c, outcome);
  }
  const { url, karma } = outcome;
  return c.json<CommentAnswer>({ comment_url: url, hash, karma, user_token: userToken });
}

/**
 * Passes the comment to its identity's object. If that object's machine dies, nobody knows whether the comment was
 * posted.
 */
async function post(c: Context<AppEnv>, hash: string, request: CommentRequest): Promise<CommentOutcome> {
  try {
    return await identityOf(c, hash).comment(request);
  } catch (error) {
    c.var.logger.error('an identity did not answer', { error });
    return { kind: 'failed', failure: { kind: 'unreachable' } };
  }
}

function refused(c: Context<AppEnv>, outcome: Exclude<CommentOutcome, { kind: 'posted' }>): Response {
  switch (outcome.kind) {
    case 'blocked':
      return c.json({ error: 'hash bloqueado por reportes' }, 403);
    case 'cooldown':
      return c.json({ error: 'cooldown activo por reportes' }, 429, {
        'Retry-After': retryAfter(outcome.leftMs),
      });
    case 'too-long':
      return c.json({ error: `body must have at most ${outcome.maxCharacters} characters` }, 400);
    case 'busy':
      return c.json({ error: 'too many comments with this token at once; try again in a minute' }, 503, {
        'Retry-After': '60',
      });
    case 'failed':
      return writeRefusal(c, 'comment', outcome.failure);
  }
}

/** A positive integer in its usual spelling; null for anything else. */
function threadNumber(text: string): number | null {
  const number = Number(text);
  return /^[1-9]\d*$/.test(text) && Number.isSafeInteger(number) ? number : null;
}
