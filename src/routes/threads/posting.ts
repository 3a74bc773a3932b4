/**
 * Shares what comments and issues have in common: it decides whether anything may be posted now,
 * and posts once for each form or Idempotency-Key that is sent again, unless it cannot find out
 * what was sent before. A request without a key posts each time.
 * Proved by test/routes/threads/issues.test.ts and test/e2e/people/comments.test.ts.
 */
import { waitUntil } from 'cloudflare:workers';
import type { Context } from 'hono';
import * as z from 'zod';
import { recordName } from '../../config/hosts.ts';
import { hostAccountOf } from '../../host-access.ts';
import type { PostName, PostResult, PostStanding } from '../../durable/host-account/posts.ts';
import type { AppEnv } from '../../env.ts';
import { formSecrets, userTokenOf } from '../request/form-fields.ts';
import { systemClock } from '../../isolate/clock.ts';
import type { MemoryHold } from '../../isolate/memory-budget.ts';
import type { Limit } from '../../limits/sliding-window.ts';
import { guardOf } from '../../objects.ts';
import { openPolicies } from '../../policy/policies.ts';
import { muteRefusal, policyRefusal } from '../../policy/policy.ts';
import { fullName, type RepositoryName } from '../../words/repository-name.ts';
import { identityHash } from '../../secret/keyed-hash.ts';
import { serviceSecret } from '../../secret/open-secret.ts';
import { newUserToken } from '../../secret/user-token.ts';
import { error } from '../description.ts';
import { clientOf, memoryFor } from '../../service/scope.ts';
import { untilAnswered } from '../request/until-answered.ts';
import { answerRefused, invalidField, type Refused, refused, refuseWithoutBot } from '../request/refused.ts';
import { onRepository } from '../request/repository.ts';
import { refuseSuspendedWriting } from '../request/limits.ts';
import { hostScopeOf, scopeOf } from '../request/scope.ts';

const SINGULAR = { comments: 'comment', issues: 'issue' } as const;
export type PostKind = keyof typeof SINGULAR;

export type PostOutcome = Extract<PostStanding, { kind: 'posted' }> | Refused;

/**
 * The kind of what was sent, and the name by which it is recognised if it is sent again; null: it
 * is not recognised.
 */
export interface Sent {
  readonly sent: 'form' | 'request';
  readonly name: PostName | null;
}

/** How often, and after which pauses, the second of two equal posts looks for the first. */
const ATTEMPTS = 140;
const PAUSE_MS = 500;

/** Computes the pseudonym of a token on a thread. */
export async function pseudonymOn(
  c: Context<AppEnv>,
  repository: RepositoryName,
  number: number,
  userToken: string,
): Promise<string> {
  const secret = await serviceSecret(c.env, c.var.config.identitySecret);
  return identityHash(secret, `${recordName(c.var.host, repository)}#${number}`, userToken);
}

/**
 * Posts once, after `checkComment` or `checkIssue` has counted the attempt. It asks one question
 * after the other, so that nobody who is refused reaches the account's object, which remembers what
 * was sent (src/durable/host-account/posts.ts).
 * @param post is called with the policy's limits, unless one of the same name may have posted.
 * @param thread the number of the thread that it is posted on; left out for a new one.
 */
export async function postOnce(
  c: Context<AppEnv>,
  target: RepositoryName,
  kind: PostKind,
  { sent, name }: Sent,
  post: (limits: readonly Limit[]) => Promise<PostOutcome>,
  thread?: number,
): Promise<PostOutcome> {
  const refusal = refuseWithoutBot(c) ?? (await refuseSuspendedWriting(c));
  if (refusal !== null) return refusal;
  const { logger } = c.var;
  const policy = await openPolicies(hostScopeOf(c)).of(target);
  // A refusal by the maintainers must hold even while the host does not answer.
  if (policy === undefined)
    return refused(503, `the policy of ${fullName(target)} cannot be read at the moment; try again later`);
  // The host's words for a repository that it does not show (contract, section 7); they are also
  // given if only the bot can see it.
  if (policy === null)
    return refused(400, `failed to create ${SINGULAR[kind]}: 404 Not Found`, {}, 'not-created');
  const notAccepted =
    policyRefusal(policy, target, kind) ??
    (thread === undefined ? null : muteRefusal(policy, target, thread));
  if (notAccepted !== null) return refused(403, notAccepted, {}, 'not-accepted');
  const postNow = () => postAndRemember(c, name, () => post(policy.limits));
  if (name === null) return postNow();
  const standing = await postStandingOf(c, name).catch((cause: unknown): PostStanding => {
    logger.warn('a post could not be compared with those sent before', { error: cause });
    // A comment that is there twice does less harm than one that is lost.
    return { kind: 'new' };
  });
  const what = kind === 'comments' && sent === 'form' ? 'reply' : SINGULAR[kind];
  const again = sent === 'form' ? 'it again' : 'it with another key';
  switch (standing.kind) {
    case 'posted':
      return standing;
    case 'sending':
      return refused(503, `the service is still posting this ${what}; send the ${sent} again in a minute`, {
        'Retry-After': '60',
      });
    case 'unknown':
    case 'sent': {
      const lost = `this ${sent} was sent before, and its answer was lost: the ${what} may exist; look there before you send ${again}`;
      return refused(409, lost, {}, 'may-exist');
    }
    case 'other':
      return refused(422, 'this Idempotency-Key was sent with another body; send a new key with each text');
    case 'new':
      return postNow();
  }
}

/** Posts and stores the result. If that fails, a repeated post is told that the first may exist. */
async function postAndRemember(
  c: Context<AppEnv>,
  name: PostName | null,
  post: () => Promise<PostOutcome>,
): Promise<PostOutcome> {
  let result: PostResult = { kind: 'unknown' };
  try {
    const outcome = await post();
    if (outcome.kind === 'posted') {
      result = outcome;
      countPost(c);
    } else if (outcome.code !== 'may-exist') result = { kind: 'new' };
    return outcome;
  } finally {
    if (name !== null) await rememberPost(c, name, result);
  }
}

/** Stores what became of a post. Never rejects. */
export async function rememberPost(
  c: Context<AppEnv>,
  { name }: PostName,
  result: PostResult,
): Promise<void> {
  await hostAccountOf(c.env, c.var.host)
    .endPost(name, result)
    .catch((cause: unknown) =>
      c.var.logger.warn('what was posted could not be remembered', { error: cause }),
    );
}

/**
 * Finds out whether it was posted already, and waits while another request posts it. Rejects if
 * that cannot be found out.
 */
export async function postStandingOf(c: Context<AppEnv>, name: PostName): Promise<PostStanding> {
  const begin = () => hostAccountOf(c.env, c.var.host).beginPost(name);
  let standing = await begin();
  for (let attempt = 1; standing.kind === 'sending' && attempt < ATTEMPTS; attempt++) {
    await systemClock.sleep(PAUSE_MS);
    standing = await begin();
  }
  return standing;
}

/** Counts a post, so that the operator is told of a flood. No answer waits for this. */
function countPost(c: Context<AppEnv>): void {
  const count = async () => {
    const client = await clientOf(scopeOf(c));
    await guardOf(c.env).countPost(client.hash('burst'), client.prefixHash('burst'));
  };
  waitUntil(count().catch((cause: unknown) => c.var.logger.warn('a post was not counted', { error: cause })));
}

/** Makes the handler of a JSON endpoint, with a memory hold that ends with the answer. */
export const onPost = (
  handle: (c: Context<AppEnv>, target: RepositoryName, memory: MemoryHold) => Promise<Response | Refused>,
) =>
  onRepository((c, target) => {
    const memory = memoryFor(scopeOf(c));
    const answering = handle(c, target, memory).then((answer) =>
      'kind' in answer ? answerRefused(c, answer) : answer,
    );
    return untilAnswered(memory, answering);
  });

/**
 * The header of draft-ietf-httpapi-idempotency-key-header, with which a program that got no answer
 * sends its request again.
 */
const IDEMPOTENCY_KEY = 'Idempotency-Key';

/**
 * Matches keys of visible ASCII. Short ones are refused, because anybody who guesses the key and
 * the text gets the answer with the author's token.
 */
const KEY_PATTERN = /^[!-~]{16,255}$/;

export const idempotencyHeader = z.object({
  [IDEMPOTENCY_KEY]: z.string().optional().meta({
    description:
      'Random, 16 to 255 visible ASCII characters. A request that is sent again with the same key and body within a day is posted once, and gets the same answer.',
  }),
});

interface SentRequest extends Sent {
  readonly kind: 'sent';
  /** The token of an author who has sent none. The same key gives the same token. */
  readonly userToken: string;
}

/** The key of a request, if it has one. */
export function idempotencyKey(c: Context<AppEnv>): string | Refused | undefined {
  const key = c.req.header(IDEMPOTENCY_KEY);
  if (key === undefined || KEY_PATTERN.test(key)) return key;
  return invalidField(`${IDEMPOTENCY_KEY} must be 16 to 255 visible ASCII characters, such as a random UUID`);
}

/** @param payload the fields to post. */
export async function sentRequest(c: Context<AppEnv>, payload: unknown): Promise<SentRequest | Refused> {
  const key = idempotencyKey(c);
  if (key === undefined) return { kind: 'sent', sent: 'request', name: null, userToken: newUserToken() };
  if (typeof key !== 'string') return key;
  const secret = await serviceSecret(c.env, c.var.config.identitySecret);
  const request = { text: `${IDEMPOTENCY_KEY} ${key}` };
  const ofContent = formSecrets(secret, request, [c.req.path, JSON.stringify(payload)]);
  const name = { name: formSecrets(secret, request, [c.req.path])('name'), content: ofContent('name') };
  return { kind: 'sent', sent: 'request', name, userToken: userTokenOf(ofContent) };
}

/**
 * Describes answers that both endpoints have: to an Idempotency-Key that was sent before, and if
 * the host fails or must not be asked.
 */
export const POST_FAULTS = {
  409: error(
    'A request with this Idempotency-Key was sent, and its answer was lost. Look there before you try again.',
    [
      'this request was sent before, and its answer was lost: the comment may exist; look there before you send it with another key',
      'may-exist',
    ],
  ),
  422: error(
    'This Idempotency-Key was sent with another body.',
    'this Idempotency-Key was sent with another body; send a new key with each text',
  ),
  502: error('The code host did not answer as expected. Look there before you try again.'),
  503: error(
    'The code host asks to slow down, the operator has suspended comments and issues, the policy of the repository or a limit cannot be checked, or the service has no bot account. Try again later.',
  ),
};
