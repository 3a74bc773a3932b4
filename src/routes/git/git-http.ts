/**
 * Answers and headers that push and fetch share (gitprotocol-http, "General Request Processing").
 * Proved by test/e2e/fetch/fetch-relay.test.ts and test/e2e/host/moved-server.test.ts.
 */
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { hostNameOf, repositoryPath } from '../../config/hosts.ts';
import type { AppEnv } from '../../env.ts';
import type { ChunkSource } from '../../git/wire/byte-reader.ts';
import { utf8 } from '../../git/bytes.ts';
import { encodeFetchError } from '../../git/wire/fetch-request.ts';
import { type GitClient, gitClientOf } from '../../git/wire/git-client.ts';
import type { HostError } from '../../words/host-error.ts';
import { fullName, type RepositoryName } from '../../words/repository-name.ts';
import { discardBody } from '../../streams/body.ts';
import { isGzip } from '../../streams/git-body.ts';
import { TimedWriter } from '../../streams/timed-writer.ts';
import {
  type AnswerForm,
  answerRefused,
  NOT_KEPT,
  type Refused,
  refused,
  retryAfter,
} from '../request/refused.ts';
import { sentence } from '../../words/sentence.ts';

type Answer = Response | Promise<Response>;

/** Refs and packs change at any time, so no cache may keep them. */
export const NO_CACHE = {
  'Cache-Control': 'no-cache, max-age=0, must-revalidate',
  Expires: 'Fri, 01 Jan 1980 00:00:00 GMT',
  Pragma: 'no-cache',
};

/** Redirects to a new name, which the client also uses for the requests after it. */
export function redirectToMoved(c: Context<AppEnv>, movedTo: RepositoryName, service: string): Response {
  return c.redirect(`/v1/${repositoryPath(c.var.host, movedTo)}/info/refs?service=${service}`, 301);
}

/** Answers 404, also if the host says 401: Git would ask for a password, and there is none. */
export function missing(
  c: Context<AppEnv>,
  target: RepositoryName,
  headers: Record<string, string> = {},
): Answer {
  const error = `${fullName(target)} does not exist, or is not public.`;
  return answerRefused(c, refused(404, error, headers), 'text');
}

export function gitClient(c: Context<AppEnv>): GitClient {
  return gitClientOf(c.req.header('User-Agent') ?? '');
}

/**
 * Answers an error at a discovery in JSON, by the contract; for Git in plain text, because it shows
 * nothing else (http.c, `show_http_message`).
 */
export function shownByGit(c: Context<AppEnv>, refusal: Refused): Response | Promise<Response> {
  return answerRefused(c, refusal, gitClient(c) === 'git' ? 'text' : 'json');
}

/** Refuses a discovery as `withinLimit` does. */
export function tooManyCalls(c: Context<AppEnv>, { publicMessage, failure }: HostError): Answer {
  const headers = { 'Retry-After': retryAfter(failure.retryAfterMs ?? 60_000), ...NOT_KEPT };
  return answerRefused(c, refused(429, publicMessage, headers), 'text');
}

export function unreachable({ var: { host } }: Context<AppEnv>, why: HostError | null = null): Refused {
  const error = `failed to reach ${hostNameOf(host)}`;
  const advice = `${sentence(error)} Try again in a few minutes.`;
  return { ...refused(502, error), explanation: why !== null && isForeign(why) ? why.publicMessage : advice };
}

/** True if somebody else has answered in place of the host. 304 is the host's own fault. */
function isForeign({ failure: { status } }: HostError): boolean {
  return status !== null && status < 400 && status !== 304;
}

/**
 * Tells a fetch that somebody else has answered in place of the host. A discovery that was
 * redirected gets the status of that (contract, 4.5) and plain text, which Git shows there. All
 * else gets an error packet (gitprotocol-pack, "Packet Format"). Null: it is another failure.
 * @param type of the endpoint's answers.
 */
export function foreignAnswer(
  c: Context<AppEnv>,
  error: HostError,
  type: string,
  headers: Record<string, string> = {},
): Response | null {
  if (!isForeign(error)) return null;
  const { publicMessage, failure } = error;
  const status = failure.status ?? 200;
  if (status !== 200 && type.endsWith('-advertisement'))
    return c.text(`${publicMessage}\n`, status as ContentfulStatusCode, { ...headers, ...NO_CACHE });
  return new Response(encodeFetchError(publicMessage), {
    headers: { 'Content-Type': type, ...headers, ...NO_CACHE },
  });
}

/**
 * Refuses a request of another content type than its endpoint's, or with a compression other than
 * gzip. Null: it has neither.
 */
export function wrongType(c: Context<AppEnv>, expected: string): Refused | null {
  if (c.req.header('Content-Type') !== expected) {
    return refused(415, `The content type must be ${expected}.`);
  }
  const encoding = c.req.header('Content-Encoding');
  if (encoding === undefined || isGzip(encoding)) return null;
  return refused(415, 'The only supported content encoding is gzip.', { 'Accept-Encoding': 'gzip' });
}

/** The length of the body as the client announces it; 0 if it does not. */
export function announcedBytes(c: Context<AppEnv>): number {
  return Number(c.req.header('Content-Length') ?? 0);
}

/**
 * Answers 413 at once, and keeps the connection until Git has seen it and stops: else the answer
 * would be lost.
 */
export async function answerTooLarge(
  c: Context<AppEnv>,
  body: ChunkSource,
  refusal: Refused,
  form: AnswerForm,
): Promise<Response> {
  const answered = await answerRefused(c, refusal, form);
  // A client that asks first (Expect: 100-continue) has sent nothing, and will not.
  if (c.req.header('Expect') !== undefined && announcedBytes(c) > 0) return answered;
  const { readable, writable } = new IdentityTransformStream();
  const writer = new TimedWriter(writable, c.var.config.writeTimeoutMs);
  const answer = writer.write(utf8(await answered.text()));
  body.discard?.();
  const rest = discardBody(body).then(() => Promise.all([answer, writer.close()]));
  c.executionCtx.waitUntil(rest);
  return new Response(readable, answered);
}
