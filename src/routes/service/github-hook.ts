/**
 * Serves POST /v1/hooks/github, to which GitHub tells what happens where the App is installed. It
 * only wakes: what it names is read from the host. So a delivery that comes late, twice, in another
 * order or never does no harm.
 */
import { createHmac } from 'node:crypto';
import { type Context, Hono } from 'hono';
import * as z from 'zod';
import { HOOK_PATH, MAIN_HOST } from '../../config/hosts.ts';
import type { AppEnv } from '../../env.ts';
import { type NamedRepository, readHookDelivery } from '../../events/hook-delivery.ts';
import { openHostAccess } from '../../host-access.ts';
import type { MemoryHold } from '../../isolate/memory-budget.ts';
import { feedOf } from '../../objects.ts';
import { isSameSecret } from '../../secret/keyed-hash.ts';
import { memoryFor } from '../../service/scope.ts';
import { BodyError } from '../../streams/body-error.ts';
import { bodyText } from '../../streams/body-text.ts';
import { HostError } from '../../words/host-error.ts';
import { described, error } from '../description.ts';
import { answerRefused, BUSY, type Refused, refused } from '../request/refused.ts';
import { hostScopeOf, scopeOf } from '../request/scope.ts';
import { untilAnswered } from '../request/until-answered.ts';

/** Longest delivery that is read. GitHub's longest, of 25 MB, are of events that nobody needs. */
const MAX_HOOK_BYTES = 1024 * 1024;
const SIGNATURE = /^sha256=[0-9a-f]{64}$/;

const NOT_SIGNED = refused(401, 'X-Hub-Signature-256 is missing, or not made with GITHUB_WEBHOOK_SECRET');
const NO_JSON = refused(400, 'a webhook must send its content as application/json', {}, 'invalid-payload');

export const githubHook = new Hono<AppEnv>();

githubHook.post(
  HOOK_PATH,
  described(receive, {
    operationId: 'receiveGithubHook',
    summary: 'For GitHub: something has happened',
    description:
      'The webhook of the operator’s GitHub App. The service reads from GitHub what a delivery names, and believes nothing else of it.',
    tag: 'Operation',
    header: z.object({
      'x-hub-signature-256': z
        .string()
        .describe('`sha256=` and the HMAC-SHA256 of the body, with the secret of the webhook.'),
    }),
    requestBody: { required: true, content: { 'application/json': { schema: { type: 'object' } } } },
    responses: {
      204: { description: 'The delivery was read.' },
      400: error('The body is no JSON.', [NO_JSON.error, NO_JSON.code]),
      401: error('The signature is missing or wrong. One with SHA-1 is not enough.', NOT_SIGNED.error),
      404: error('This service has no webhook.', 'not found'),
      408: error('The body arrived too slowly.', 'the request body did not arrive in time; send it again'),
      413: error('The body has more than 1 MB.', 'request body too large'),
      503: error('The service is busy.', BUSY.error),
    },
  }),
);

async function receive(c: Context<AppEnv>): Promise<Response> {
  const { githubWebhookSecret: secret } = c.var.config;
  if (secret === null) return c.notFound();
  // Nothing is read for who cannot have signed it.
  if (!SIGNATURE.test(signatureOf(c))) return answerRefused(c, NOT_SIGNED);
  const memory = memoryFor(scopeOf(c));
  return untilAnswered(memory, readDelivery(c, secret, memory));
}

/** Reads a delivery, and wakes what it names. */
async function readDelivery(c: Context<AppEnv>, secret: string, memory: MemoryHold): Promise<Response> {
  const text = await signedText(c, secret, memory);
  if (typeof text !== 'string') return answerRefused(c, text);
  const body = parsed(text);
  if (body === undefined) return answerRefused(c, NO_JSON);
  const delivery = readHookDelivery(body);
  if (delivery.kind === 'thread') await feedOf(c.env, MAIN_HOST).wake(delivery.thread);
  if (delivery.kind === 'installation') await lookAgain(c, delivery.repositories);
  return c.body(null, 204);
}

/** Has the host asked whether the App still is installed where it was, here and by the feed. */
async function lookAgain(c: Context<AppEnv>, repositories: readonly NamedRepository[]): Promise<void> {
  const { writers } = openHostAccess(hostScopeOf(c, c.var.config.hosts[0]));
  for (const repository of repositories) writers?.expireInstallation(repository);
  await feedOf(c.env, MAIN_HOST).wakeInstallations(repositories);
}

/**
 * Reads a body of which nothing is looked at before its signature.
 * @throws BodyError
 */
async function signedText(c: Context<AppEnv>, secret: string, memory: MemoryHold): Promise<string | Refused> {
  const limits = { maxBytes: MAX_HOOK_BYTES, timeoutMs: c.var.config.readTimeoutMs } as const;
  try {
    const text = await bodyText(c.req.raw, { ...limits, isStrict: true, memory });
    const expected = `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`;
    return isSameSecret(signatureOf(c), expected) ? text : NOT_SIGNED;
  } catch (cause) {
    if (cause instanceof BodyError) throw cause;
    // Whoever signs sends text.
    return cause instanceof HostError ? BUSY : NOT_SIGNED;
  }
}

const signatureOf = (c: Context<AppEnv>): string => c.req.header('X-Hub-Signature-256') ?? '';

/** Parses JSON; undefined if it is none. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
