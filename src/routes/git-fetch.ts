/**
 * Clone and fetch, relayed to the host as they are (contract, 4.5 and 4.7).
 *
 * Both bodies stream through; nothing is kept or changed. The headers that go to the host are the ones below and no
 * others, and never the bot's token: it could read private repositories for anyone.
 */
import type { Context } from 'hono';
import type { AppEnv } from '../env.ts';
import type { RepositoryName } from '../host/repository-name.ts';
import { movedRepository, SmartHttp } from '../host/smart-http.ts';
import { BodyError, chunksOf } from '../streams.ts';
import { NO_CACHE, redirectToMoved, wrongContentType } from './git-http.ts';

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
  const declaredBytes = c.req.header('Content-Length');
  if (declaredBytes !== undefined && Number(declaredBytes) > MAX_BODY_BYTES) return bodyTooLarge(c);

  const counted = countedBody(c);
  const headers = { ...passedHeaders(c), 'Content-Type': REQUEST_TYPE, Accept: RESULT_TYPE };
  const answer = relay(c, target, { method: 'POST', path: 'git-upload-pack', headers, body: counted.body });
  // The body's own failure says more than the broken relay that follows from it.
  const failure = await Promise.race([counted.failure, answer.then(() => null)]);
  if (failure !== null) {
    c.executionCtx.waitUntil(answer.then((late) => late?.body?.cancel()));
    return failure.code === 'too-large' ? bodyTooLarge(c) : c.json({ error: 'failed to read body' }, 400);
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

interface CountedBody {
  readonly body: ReadableStream<Uint8Array> | null;
  /** Settles only if the body is too large or breaks off. */
  readonly failure: Promise<BodyError>;
}

/** The request's body, cut off at the limit and given up when it does not come. */
function countedBody(c: Context<AppEnv>): CountedBody {
  const { body } = c.req.raw;
  if (body === null) return { body, failure: new Promise(() => {}) };
  const source = chunksOf(body, { maxBytes: MAX_BODY_BYTES, timeoutMs: c.var.config.readTimeoutMs });
  const length = c.req.header('Content-Length');
  const { readable, writable } =
    length === undefined ? new IdentityTransformStream() : new FixedLengthStream(Number(length));
  const failure = new Promise<BodyError>((report) => {
    c.executionCtx.waitUntil(pump(source, writable, report));
  });
  return { body: readable, failure };
}

async function pump(
  source: ReturnType<typeof chunksOf>,
  writable: WritableStream<Uint8Array>,
  report: (failure: BodyError) => void,
): Promise<void> {
  const writer = writable.getWriter();
  try {
    for (let chunk = await source.read(); chunk !== null; chunk = await source.read())
      await writer.write(chunk);
    await writer.close();
  } catch (error) {
    if (error instanceof BodyError) report(error);
    await writer.abort().catch(() => {});
    await source.cancel();
  }
}

function unreachable(c: Context<AppEnv>): Response {
  return c.json({ error: `failed to reach ${new URL(c.var.config.hostingUrl).host}` }, 502);
}

function bodyTooLarge(c: Context<AppEnv>): Response {
  return c.json({ error: 'request body too large' }, 413);
}
