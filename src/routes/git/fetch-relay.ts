/**
 * A fetching client's requests on their way to the host.
 *
 * Only the headers below are sent, and never the bot's token, because it could read private repositories for anyone.
 * src/git/fetch-request.ts decides what part of a request is passed on.
 *
 * Some clients (isomorphic-git) post to a repository's old name although discovery redirected them to the new one, and
 * would turn a redirected POST into a GET. So the redirect is followed here. Nearly all bodies are short: they are kept
 * until the answer, and sent again under the new name. Before a longer body, the host is asked for the new name.
 */
import type { Context } from 'hono';
import type { AppEnv } from '../../env.ts';
import { concatBytes } from '../../git/bytes.ts';
import type { RepositoryName } from '../../host/repository-name.ts';
import { movedRepository, SmartHttp } from '../../host/git/smart-http.ts';
import { TimedWriter } from '../../streams/timed-writer.ts';

export const UPLOAD_PACK_REQUEST = 'application/x-git-upload-pack-request';
export const UPLOAD_PACK_RESULT = 'application/x-git-upload-pack-result';
/** Some five thousand wants and haves. */
const SHORT_BODY_BYTES = 256 * 1024;
/** The protocol version in this header; Git may add other keys. The host answers in the same version. */
const PROTOCOL_VERSION = /(?:^|:)version=([12])(?:$|:)/;

/** The host's answer, a redirect included; null if there is none, or none in time. */
export function relayDiscovery(c: Context<AppEnv>, target: RepositoryName): Promise<Response | null> {
  const path = 'info/refs?service=git-upload-pack';
  return relay(c, target, path, { method: 'GET', headers: gitProtocol(c), body: null });
}

/** The version of Git's protocol that a request is in. */
export function protocolVersion(c: Context<AppEnv>): 0 | 1 | 2 {
  const version = PROTOCOL_VERSION.exec(c.req.header('Git-Protocol') ?? '')?.[1];
  return version === '2' ? 2 : version === '1' ? 1 : 0;
}

/**
 * The host's answer; null if there is none, or none in time.
 * @throws what `body` throws: BodyError if it does not come whole, ProtocolError if it is refused.
 */
export async function relayUploadPack(
  c: Context<AppEnv>,
  target: RepositoryName,
  body: AsyncIterable<Uint8Array>,
): Promise<Response | null> {
  const pieces = body[Symbol.asyncIterator]();
  const { chunks, isWhole } = await beginningOf(pieces);
  return isWhole ? relayShort(c, target, concatBytes(chunks)) : relayLong(c, target, chunks, pieces);
}

/** The chunks of a short body, or the first ones of a longer one. */
async function beginningOf(body: Pieces): Promise<{ chunks: Uint8Array[]; isWhole: boolean }> {
  const chunks: Uint8Array[] = [];
  for (let length = 0; length <= SHORT_BODY_BYTES;) {
    const { done, value } = await body.next();
    if (done === true) return { chunks, isWhole: true };
    chunks.push(value);
    length += value.byteLength;
  }
  return { chunks, isWhole: false };
}

async function relayShort(
  c: Context<AppEnv>,
  target: RepositoryName,
  body: Uint8Array,
): Promise<Response | null> {
  const answer = await post(c, target, body);
  const movedTo = answer === null ? null : movedRepository(answer);
  if (movedTo === null) return answer;
  await answer?.body?.cancel();
  return post(c, movedTo, body);
}

async function relayLong(
  c: Context<AppEnv>,
  target: RepositoryName,
  beginning: readonly Uint8Array[],
  rest: Pieces,
): Promise<Response | null> {
  const discovery = await relayDiscovery(c, target);
  if (discovery === null) return null;
  await discovery.body?.cancel();
  const { stream, outcome } = sendOn(c, beginning, rest);
  const answer = post(c, movedRepository(discovery) ?? target, stream);
  // A host that accepts the request may begin to answer before it has read all of it, and the rest may still fail to
  // arrive. A host that refuses the request need not read it.
  const failure = await Promise.race([
    outcome,
    answer.then((early) => (early?.ok === true ? outcome : null)),
  ]);
  if (failure === null) return answer;
  c.executionCtx.waitUntil(answer.then((late) => late?.body?.cancel()));
  throw failure;
}

function post(
  c: Context<AppEnv>,
  target: RepositoryName,
  body: Uint8Array | ReadableStream<Uint8Array>,
): Promise<Response | null> {
  const headers = {
    ...gitProtocol(c),
    'Content-Type': UPLOAD_PACK_REQUEST,
    Accept: UPLOAD_PACK_RESULT,
  };
  return relay(c, target, 'git-upload-pack', { method: 'POST', headers, body });
}

async function relay(
  c: Context<AppEnv>,
  target: RepositoryName,
  path: string,
  request: Parameters<SmartHttp['fetch']>[2],
): Promise<Response | null> {
  try {
    return await new SmartHttp(c.var.host.url, null, c.var.http).fetch(target, path, request);
  } catch (error) {
    c.var.logger.warn('a fetch could not be relayed', { error });
    return null;
  }
}

function gitProtocol(c: Context<AppEnv>): Record<string, string> {
  const version = protocolVersion(c);
  return version === 0 ? {} : { 'Git-Protocol': `version=${version}` };
}

type Pieces = AsyncIterator<Uint8Array>;

interface SentOn {
  readonly stream: ReadableStream<Uint8Array>;
  /** Why the client's body did not arrive completely, or is refused; null once it has arrived. */
  readonly outcome: Promise<Error | null>;
}

/** The request's body, passed on to the host while it arrives. */
function sendOn(c: Context<AppEnv>, beginning: readonly Uint8Array[], rest: Pieces): SentOn {
  const { readable, writable } = new IdentityTransformStream();
  const outcome = pump(beginning, rest, new TimedWriter(writable, c.var.config.writeTimeoutMs));
  c.executionCtx.waitUntil(outcome);
  return { stream: readable, outcome };
}

async function pump(
  beginning: readonly Uint8Array[],
  rest: Pieces,
  writer: TimedWriter,
): Promise<Error | null> {
  let isRead = true;
  try {
    for (const chunk of beginning) isRead &&= await writer.write(chunk);
    for (let piece = await rest.next(); piece.done !== true; piece = await rest.next()) {
      // Reads the body even if the host does not, because the client reads the answer only after it has sent
      // everything.
      isRead &&= await writer.write(piece.value);
    }
    if (isRead) await writer.close();
    return null;
  } catch (error) {
    await writer.abort();
    return error instanceof Error ? error : new Error('the body could not be read', { cause: error });
  }
}
