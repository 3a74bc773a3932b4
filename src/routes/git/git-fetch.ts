/**
 * Clone and fetch, relayed to the host (contract, 4.5 and 4.7), without what a request tells of the client: see
 * src/git/wire/fetch-request.ts.
 *
 * The host's answers stream through; nothing is kept or changed. In three cases our answer differs: when a repository has
 * moved, when the host asks for a password because it shows the repository to nobody, and when it answers with an error,
 * whose words may name the service's address.
 */
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { hostNameOf } from '../../config/hosts.ts';
import type { AppEnv } from '../../env.ts';
import { knownIds } from '../../upstream/known-ids.ts';
import { ByteReader, type ChunkSource } from '../../git/wire/byte-reader.ts';
import { encodeFetchError, readFetchRequest } from '../../git/wire/fetch-request.ts';
import { ProtocolError } from '../../git/wire/protocol-error.ts';
import { HostError } from '../../host-error.ts';
import type { RepositoryName } from '../../repository-name.ts';
import { hostLines } from '../../host-text.ts';
import { beginningOf, HOST_TIMEOUT_MS, movedRepository } from '../../host/git/smart-http.ts';
import type { HistoryHost } from '../../upstream/upstream-host.ts';
import { BodyError, drain, type LimitedSource } from '../../streams/body.ts';
import { gitBody } from '../../streams/request-body.ts';
import {
  protocolVersion,
  relayDiscovery,
  relayUploadPack,
  UPLOAD_PACK_REQUEST,
  UPLOAD_PACK_RESULT,
} from '../../fetch/fetch-relay.ts';
import {
  announcedBytes,
  BUSY,
  gitClient,
  missing,
  NO_CACHE,
  redirectToMoved,
  shownByGit,
  unreachable,
  answerTooLarge,
  wrongType,
} from './git-http.ts';
import { historyHost } from './push-host.ts';
import { withinLimit } from '../request/rate-limit.ts';
import { answerRefused, refused } from '../request/refused.ts';

const MAX_BODY_BYTES = 50 * 1024 * 1024;
const ADVERTISEMENT_TYPE = 'application/x-git-upload-pack-advertisement';

export function discoverFetch(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  return withinLimit(c, 'discoveries', () => relayedDiscovery(c, target));
}

async function relayedDiscovery(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  const answer = await relayDiscovery(c, target);
  if (answer === null) return shownByGit(c, unreachable(hostNameOf(c.var.host)));
  const movedTo = movedRepository(answer);
  if (movedTo !== null) return redirectToMoved(c, movedTo, 'git-upload-pack');
  // Of an error, Git shows only plain text.
  const isForPerson = answer.status >= 400 && gitClient(c) === 'git';
  const type = isForPerson ? 'text/plain; charset=UTF-8' : ADVERTISEMENT_TYPE;
  return passOn(c, target, await withoutAddresses(c, answer), type, noChallenge(c));
}

/** An error in the host's own words if they are text, else in ours: most are pages for browsers. Other answers as they are. */
async function withoutAddresses(c: Context<AppEnv>, answer: Response): Promise<Response> {
  const { status, headers, body } = answer;
  if (status < 400) return answer;
  const isText = headers.get('Content-Type')?.startsWith('text/plain') === true;
  if (!isText) c.executionCtx.waitUntil(body?.cancel() ?? Promise.resolve());
  const lines = isText ? hostLines(await beginningOf(answer, HOST_TIMEOUT_MS)) : [];
  const ours = `${hostNameOf(c.var.host)} answers with an error (HTTP ${status}). Try again in a few minutes.`;
  return new Response(`${lines.join('\n') || ours}\n`, { status });
}

/**
 * The contract's header (4.5) says that no password is wanted. But libgit2 takes it for a challenge, even with status
 * 200, and gives up. So clients that name libgit2 do not get it.
 */
function noChallenge(c: Context<AppEnv>): Record<string, string> {
  return gitClient(c) === 'libgit2' ? {} : { 'WWW-Authenticate': 'None' };
}

/** Not limited: contract, 4.7. */
export async function uploadPack(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  const refusal = wrongType(c, UPLOAD_PACK_REQUEST);
  if (refusal !== null) return answerRefused(c, refusal, 'text');
  const body = gitBody(c.req.raw, { maxBytes: MAX_BODY_BYTES, timeoutMs: c.var.config.readTimeoutMs });
  if (announcedBytes(c) > MAX_BODY_BYTES) return bodyTooLarge(c, body);
  const host = historyHost(c);
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
  try {
    const version = protocolVersion(c) === 2 ? 2 : 0;
    const request = await readFetchRequest(reader, version, knownIds(host, target), host.memory);
    if (request.kind === 'answer') return result(request.body);
    const answer = await relayUploadPack(c, target, request.body);
    return answer === null
      ? answerRefused(c, unreachable(hostNameOf(c.var.host)))
      : passOn(c, target, await withoutAddresses(c, answer), UPLOAD_PACK_RESULT);
  } catch (error) {
    // What the client still sends is not used any more.
    host.memory.end();
    body.discard?.();
    if (error instanceof HostError && error.code === 'busy') {
      await drain(reader);
      return answerRefused(c, BUSY);
    }
    if (error instanceof HostError) return hostRefusal(c, target, error);
    if (!(error instanceof BodyError || error instanceof ProtocolError)) throw error;
    if (error.code === 'too-large') return bodyTooLarge(c, body);
    await drain(reader);
    if (body.isOverLimit) return bodyTooLarge(c, body);
    if (error.code === 'unsupported') return result(encodeFetchError(error.publicMessage));
    return answerRefused(c, refused(400, 'failed to read body'));
  }
}

function result(body: Uint8Array): Response {
  return new Response(body, { headers: { 'Content-Type': UPLOAD_PACK_RESULT, ...NO_CACHE } });
}

/** A host asks for a password if it does not show the repository to the public. Here a password would not help. */
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
  return new Response(body, { status, headers: { 'Content-Type': contentType, ...headers, ...NO_CACHE } });
}

/** What the host has answered to the service's own question about a request. */
function hostRefusal(
  c: Context<AppEnv>,
  target: RepositoryName,
  { code, cause, message }: HostError,
): Response | Promise<Response> {
  if (code === 'missing') return missing(c, target);
  // The contract (4.7) passes the host's status on.
  return typeof cause === 'number'
    ? answerRefused(c, refused(cause as ContentfulStatusCode, message), 'text')
    : answerRefused(c, unreachable(hostNameOf(c.var.host)));
}

function bodyTooLarge(c: Context<AppEnv>, body: ChunkSource): Promise<Response> {
  return answerTooLarge(c, body, refused(413, 'request body too large'), 'json');
}
