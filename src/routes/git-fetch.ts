/**
 * Clone and fetch, relayed to the host as they are (contract, 4.5 and 4.7).
 *
 * Both bodies stream through; nothing is kept or changed. The headers that go to the host are the ones below and no
 * others, and never the bot's token: it could read private repositories for anyone.
 */
import type { Context } from 'hono';
import type { AppEnv } from '../env.ts';
import { ByteReader, type ChunkSource } from '../git/byte-reader.ts';
import type { RepositoryName } from '../host/repository-name.ts';
import { movedRepository, SmartHttp } from '../host/smart-http.ts';
import { BodyError, chunksOf } from '../streams.ts';
import { announcedBytes, NO_CACHE, redirectToMoved, tooLarge, wrongContentType } from './git-http.ts';

const MAX_BODY_BYTES = 50 * 1024 * 1024;
const REQUEST_TYPE = 'application/x-git-upload-pack-request';
const RESULT_TYPE = 'application/x-git-upload-pack-result';
const ADVERTISEMENT_TYPE = 'application/x-git-upload-pack-advertisement';
/** `version=2`, and whatever keys Git may add. Anything else is not passed on. */
const GIT_PROTOCOL_PATTERN = /^[a-z0-9.=:-]{1,100}$/;

/** One request of a fetching client, on its way to the host. */
interface RelayedRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: ReadableStream<Uint8Array> | null;
}

export async function discoverFetch(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  const path = 'info/refs?service=git-upload-pack';
  const answer = await relay(c, target, { method: 'GET', path, headers: passedHeaders(c), body: null });
  if (answer === null) return unreachable(c);
  const movedTo = movedRepository(answer);
  if (movedTo !== null) return redirectToMoved(c, movedTo, 'git-upload-pack');
  return new Response(answer.body, {
    status: answer.status,
    headers: { 'Content-Type': ADVERTISEMENT_TYPE, 'WWW-Authenticate': 'None', ...NO_CACHE },
  });
}

export async function uploadPack(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  const wrongType = wrongContentType(c, REQUEST_TYPE);
  if (wrongType !== null) return wrongType;
  const source = chunksOf(c.req.raw.body, {
    maxBytes: MAX_BODY_BYTES,
    timeoutMs: c.var.config.readTimeoutMs,
  });
  if (announcedBytes(c) > MAX_BODY_BYTES) return bodyTooLarge(c, source);

  const { body, outcome } = sendOn(c, source);
  const headers = { ...passedHeaders(c), 'Content-Type': REQUEST_TYPE, Accept: RESULT_TYPE };
  const answer = relay(c, target, { method: 'POST', path: 'git-upload-pack', headers, body });
  // A host that takes the request may begin to answer before it has read all of it; whether all of it comes is still
  // to be seen. One that does not take it need not read it.
  const failure = await Promise.race([
    outcome,
    answer.then((early) => (early?.ok === true ? outcome : null)),
  ]);
  if (failure !== null) {
    c.executionCtx.waitUntil(answer.then((late) => late?.body?.cancel()));
    if (failure.code === 'too-large') return bodyTooLarge(c, source);
    return c.json({ error: 'failed to read body' }, 400);
  }
  const response = await answer;
  if (response === null) return unreachable(c);
  return new Response(response.body, {
    status: response.status,
    headers: { 'Content-Type': RESULT_TYPE, ...NO_CACHE },
  });
}

/** The host's answer; null if there is none, or none in time. */
async function relay(
  c: Context<AppEnv>,
  target: RepositoryName,
  { path, ...request }: RelayedRequest,
): Promise<Response | null> {
  try {
    return await new SmartHttp(c.var.config.hostingUrl, null).fetch(target, path, request);
  } catch (error) {
    c.var.logger.warn('a fetch could not be relayed', { error });
    return null;
  }
}

function passedHeaders(c: Context<AppEnv>): Record<string, string> {
  const headers: Record<string, string> = {};
  const protocol = c.req.header('Git-Protocol');
  if (protocol !== undefined && GIT_PROTOCOL_PATTERN.test(protocol)) headers['Git-Protocol'] = protocol;
  if (c.req.header('Content-Encoding') === 'gzip') headers['Content-Encoding'] = 'gzip';
  return headers;
}

interface SentOn {
  readonly body: ReadableStream<Uint8Array> | null;
  /** Why the client's body did not come whole; null once it has. */
  readonly outcome: Promise<BodyError | null>;
}

/** The request's body, on its way to the host while it comes in. */
function sendOn(c: Context<AppEnv>, source: ChunkSource): SentOn {
  if (c.req.raw.body === null) return { body: null, outcome: Promise.resolve(null) };
  const { readable, writable } =
    c.req.header('Content-Length') === undefined
      ? new IdentityTransformStream()
      : new FixedLengthStream(announcedBytes(c));
  const outcome = pump(source, writable.getWriter(), c.var.config.writeTimeoutMs);
  c.executionCtx.waitUntil(outcome);
  return { body: readable, outcome };
}

async function pump(
  source: ChunkSource,
  writer: WritableStreamDefaultWriter<Uint8Array>,
  writeTimeoutMs: number,
): Promise<BodyError | null> {
  let isRead = true;
  try {
    for (let chunk = await source.read(); chunk !== null; chunk = await source.read()) {
      // What the host does not read is read all the same: the client comes to the answer only behind it.
      isRead &&= await isTaken(writer, chunk, writeTimeoutMs);
    }
    if (isRead) await writer.close().catch(() => {});
    return null;
  } catch (error) {
    await writer.abort().catch(() => {});
    if (error instanceof BodyError) return error;
    throw error;
  }
}

/** Whether the host takes these bytes; one that neither reads nor ends would hold the request for ever. */
async function isTaken(
  writer: WritableStreamDefaultWriter<Uint8Array>,
  chunk: Uint8Array,
  timeoutMs: number,
): Promise<boolean> {
  const timer = setTimeout(() => void writer.abort().catch(() => {}), timeoutMs);
  try {
    await writer.write(chunk);
    return true;
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}

function unreachable(c: Context<AppEnv>): Response {
  return c.json({ error: `failed to reach ${new URL(c.var.config.hostingUrl).host}` }, 502);
}

function bodyTooLarge(c: Context<AppEnv>, source: ChunkSource): Response {
  const body = JSON.stringify({ error: 'request body too large' });
  return tooLarge(c, new ByteReader(source), body, 'application/json');
}
