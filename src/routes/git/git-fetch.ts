/**
 * Clone and fetch (contract, 4.5 and 4.7), relayed without what tells of the client
 * (src/git/wire/fetch-request.ts). The bot's token is never sent, because it could read private
 * repositories for anyone. Answers stream through unchanged, except for a repository that has
 * moved, a password that the host asks for, and errors, which may name the service's address.
 * Proved by test/e2e/fetch/fetch-relay.test.ts and test/contract/fetch.test.ts.
 */
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { hostNameOf } from '../../config/hosts.ts';
import type { AppEnv } from '../../env.ts';
import { knownIds } from '../../upstream/known-ids.ts';
import { ByteReader, type ChunkSource } from '../../git/wire/byte-reader.ts';
import { encodeFetchError, type FetchRequest, readFetchRequest } from '../../git/wire/fetch-request.ts';
import { ProtocolError } from '../../git/wire/protocol-error.ts';
import { HostError, MovedError } from '../../words/host-error.ts';
import type { RepositoryName } from '../../words/repository-name.ts';
import { hostLines } from '../../words/host-text.ts';
import { beginningOf, HOST_TIMEOUT_MS, SmartHttp } from '../../host/git/smart-http.ts';
import { followMoves } from '../../host/redirect.ts';
import type { HistoryHost } from '../../upstream/upstream-refs.ts';
import { BodyError } from '../../streams/body-error.ts';
import { drain, type LimitedSource } from '../../streams/body.ts';
import { gitBody } from '../../streams/git-body.ts';
import {
  announcedBytes,
  foreignAnswer,
  gitClient,
  missing,
  NO_CACHE,
  redirectToMoved,
  shownByGit,
  unreachable,
  answerTooLarge,
  wrongType,
} from './git-http.ts';
import { historyHost } from '../../service/open-push.ts';
import { relayedBody } from '../request/long-body.ts';
import { withinLimit } from '../request/limits.ts';
import { answerRefused, BUSY, refused } from '../request/refused.ts';
import { hostScopeOf } from '../request/scope.ts';

const MAX_BODY_BYTES = 50 * 1024 * 1024;
/** Generous: Git compresses requests over a kilobyte, and their ids shrink to two fifths. */
const INFLATED_PER_ARRIVED = 8;
const ADVERTISEMENT_TYPE = 'application/x-git-upload-pack-advertisement';
const REQUEST_TYPE = 'application/x-git-upload-pack-request';
const RESULT_TYPE = 'application/x-git-upload-pack-result';
/**
 * The protocol version in the header `Git-Protocol`, to which Git may add other keys. The host
 * answers in the same version.
 */
const PROTOCOL_VERSION = /(?:^|:)version=([12])(?:$|:)/;

export function discoverFetch(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  return withinLimit(c, 'discoveries', async () => {
    const found = await followMoves(target, (name) =>
      askHost(c, name, 'info/refs?service=git-upload-pack', null),
    ).catch(hostErrorOf);
    const client = gitClient(c);
    // No password is wanted (contract, 4.5). libgit2 takes that for a challenge, even with status
    // 200, and gives up.
    const headers: Record<string, string> = client === 'libgit2' ? {} : { 'WWW-Authenticate': 'None' };
    if (found instanceof HostError)
      return foreignAnswer(c, found, ADVERTISEMENT_TYPE, headers) ?? shownByGit(c, unreachable(c));
    const { repository, answer } = found;
    if (repository !== target) {
      await answer.body?.cancel();
      return redirectToMoved(c, repository, 'git-upload-pack');
    }
    // Git shows an error only if it is plain text.
    const isForPerson = answer.status >= 400 && client === 'git';
    return passOn(c, target, answer, isForPerson ? 'text/plain; charset=UTF-8' : ADVERTISEMENT_TYPE, headers);
  });
}

/**
 * Answers an error in the host's words if they are text, else in ours, because most are pages.
 * Leaves other answers as they are.
 */
async function withoutAddresses(c: Context<AppEnv>, answer: Response): Promise<Response> {
  const { status, headers, body } = answer;
  if (status < 400) return answer;
  const isText = headers.get('Content-Type')?.startsWith('text/plain') === true;
  if (!isText) c.executionCtx.waitUntil(body?.cancel() ?? Promise.resolve());
  const lines = isText ? hostLines(await beginningOf(answer, HOST_TIMEOUT_MS)) : [];
  return new Response(`${lines.join('\n') || faulty(c, status)}\n`, { status });
}

/** Statuses that last: gone, and unavailable for legal reasons (RFC 9110, 15.5.11; RFC 7725). */
const LASTING: ReadonlySet<number> = new Set([410, 451]);

function faulty(c: Context<AppEnv>, status: number): string {
  const next = LASTING.has(status) ? '' : ' Try again in a few minutes.';
  return `${hostNameOf(c.var.host)} answers with an error (HTTP ${status}).${next}`;
}

/** Relays a fetch, which has no rate limit (contract, 4.7). */
export async function uploadPack(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  const refusal = wrongType(c, REQUEST_TYPE);
  if (refusal !== null) return answerRefused(c, refusal, 'text');
  const { readTimeoutMs: timeoutMs } = c.var.config;
  const limits = { maxBytes: MAX_BODY_BYTES, timeoutMs, inflatedPerArrived: INFLATED_PER_ARRIVED };
  const body = gitBody(c.req.raw, limits);
  if (announcedBytes(c) > MAX_BODY_BYTES) return bodyTooLarge(c, body);
  const host = historyHost(hostScopeOf(c));
  const relaying = relayed(c, target, body, host).finally(() => host.memory.end());
  // If the client leaves now, it continues, because it must give back what it holds.
  c.executionCtx.waitUntil(relaying.catch(() => {}));
  return relaying;
}

async function relayed(
  c: Context<AppEnv>,
  target: RepositoryName,
  body: LimitedSource,
  host: HistoryHost,
): Promise<Response> {
  const reader = new ByteReader(body);
  let request: FetchRequest;
  try {
    const version = protocolVersion(c) === '2' ? 2 : 0;
    request = await readFetchRequest(reader, version, knownIds(host, target), host.memory);
    await host.memory.worked(request.body.byteLength);
  } catch (error) {
    // What the client still sends is not used any more.
    host.memory.end();
    body.discard?.();
    const isTooLarge = error instanceof BodyError && (error.code === 'too-large' || error.code === 'bomb');
    if (!isTooLarge) await drain(reader);
    return isTooLarge || body.isOverLimit ? bodyTooLarge(c, body) : requestRefusal(c, target, error);
  }
  if (request.kind === 'answer') return result(request.body);
  const { body: asked } = request;
  await host.memory.asks();
  // isomorphic-git posts to the old name in spite of discovery's redirect, and turns a redirected
  // POST into a GET.
  const found = await followMoves(target, (name) => askHost(c, name, 'git-upload-pack', asked)).catch(
    hostErrorOf,
  );
  // It may be large, and the answer may be read for long: the collector is slow to notice buffers.
  asked.buffer.transfer(0);
  if (found instanceof HostError)
    return foreignAnswer(c, found, RESULT_TYPE) ?? answerRefused(c, unreachable(c));
  return passOn(c, target, found.answer, RESULT_TYPE);
}

function hostErrorOf(error: unknown): HostError {
  if (error instanceof HostError) return error;
  throw error;
}

/** Tells why a request is not relayed. */
function requestRefusal(
  c: Context<AppEnv>,
  target: RepositoryName,
  error: unknown,
): Response | Promise<Response> {
  if (error instanceof HostError) {
    const status = error.failure.status ?? 0;
    if (error.code === 'busy') return answerRefused(c, BUSY);
    if (status === 401 || status === 404) return missing(c, target);
    // The contract (4.7) passes the host's status on.
    if (status >= 400)
      return answerRefused(c, refused(status as ContentfulStatusCode, faulty(c, status)), 'text');
    return foreignAnswer(c, error, RESULT_TYPE) ?? answerRefused(c, unreachable(c));
  }
  if (error instanceof ProtocolError && error.code === 'unsupported')
    return result(encodeFetchError(error.publicMessage));
  const isOfClient = error instanceof BodyError || error instanceof ProtocolError;
  if (isOfClient) return answerRefused(c, refused(400, 'failed to read body'));
  c.var.logger.error('the request of a fetch could not be built', { error });
  return answerRefused(c, refused(500, 'failed to build request'));
}

/**
 * Sends a request to the host.
 * @param body of a POST; null: a GET.
 * @throws HostError if it does not answer, or somebody else does
 */
async function askHost(
  c: Context<AppEnv>,
  target: RepositoryName,
  path: string,
  body: Uint8Array | null,
): Promise<Response> {
  const version = protocolVersion(c);
  const headers = {
    ...(version !== null && { 'Git-Protocol': `version=${version}` }),
    ...(body !== null && { 'Content-Type': REQUEST_TYPE, Accept: RESULT_TYPE }),
  };
  const http = new SmartHttp(c.var.host.url, null, c.var.http);
  try {
    const request = { method: body === null ? 'GET' : 'POST', headers, body };
    return await withoutAddresses(c, await http.fetch(target, path, request));
  } catch (error) {
    if (!(error instanceof MovedError)) c.var.logger.warn('a fetch could not be relayed', { error });
    throw error;
  }
}

/** The version of Git's protocol that the client asks for; null: the oldest. */
function protocolVersion(c: Context<AppEnv>): string | null {
  return PROTOCOL_VERSION.exec(c.req.header('Git-Protocol') ?? '')?.[1] ?? null;
}

function result(body: Uint8Array): Response {
  return new Response(body, { headers: { 'Content-Type': RESULT_TYPE, ...NO_CACHE } });
}

/**
 * Passes the host's answer on. A host that does not show the repository to the public asks for a
 * password, which would not help here: such an answer becomes 404.
 */
function passOn(
  c: Context<AppEnv>,
  target: RepositoryName,
  { status, body }: Response,
  contentType: string,
  headers: Record<string, string> = {},
): Response | Promise<Response> {
  if (status === 401 || status === 404) {
    c.executionCtx.waitUntil(body?.cancel() ?? Promise.resolve());
    return missing(c, target, headers);
  }
  const passed = body && relayedBody(c, body);
  return new Response(passed, { status, headers: { 'Content-Type': contentType, ...headers, ...NO_CACHE } });
}

function bodyTooLarge(c: Context<AppEnv>, body: ChunkSource): Promise<Response> {
  return answerTooLarge(c, body, refused(413, 'request body too large'), 'json');
}
