/** What both Git services share on the HTTP side (gitprotocol-http, "General Request Processing"). */
import type { Context } from 'hono';
import { repositoryPath } from '../../config/hosts.ts';
import type { AppEnv } from '../../env.ts';
import { ByteReader, type ChunkSource } from '../../git/byte-reader.ts';
import { utf8 } from '../../git/bytes.ts';
import { fullName, type RepositoryName } from '../../host/repository-name.ts';
import { type BodyLimits, chunksOf, drain, limited, type LimitedSource } from '../../streams.ts';
import { gunzipped } from '../../streams/gunzip.ts';
import { TimedWriter } from '../../streams/timed-writer.ts';

/** Refs and packs change at any time, so no cache may keep them. */
export const NO_CACHE = {
  'Cache-Control': 'no-cache, max-age=0, must-revalidate',
  Expires: 'Fri, 01 Jan 1980 00:00:00 GMT',
  Pragma: 'no-cache',
};

/** A client that follows this redirect uses the new name for the requests after it, too. */
export function redirectToMoved(c: Context<AppEnv>, movedTo: RepositoryName, service: string): Response {
  return c.redirect(`/v1/${repositoryPath(c.var.host, movedTo)}/info/refs?service=${service}`, 301);
}

/** Never 401, even if the host says so: Git would ask for a password, and there is none. */
export function missing(
  c: Context<AppEnv>,
  target: RepositoryName,
  headers: Record<string, string> = {},
): Response {
  return c.text(`${fullName(target)} does not exist, or is not public.\n`, 404, headers);
}

/** For everything but a push, which is answered in-band. */
export function busyAnswer(c: Context<AppEnv>): Response {
  return c.json({ error: 'the service is busy: try again in a minute' }, 503, { 'Retry-After': '60' });
}

/** Null if the request has the content type of its endpoint, and is compressed with gzip or not at all. */
export function wrongType(c: Context<AppEnv>, expected: string): Response | null {
  if (c.req.header('Content-Type') !== expected) {
    return c.text(`The content type must be ${expected}.\n`, 415);
  }
  const encoding = c.req.header('Content-Encoding');
  if (encoding === undefined || isGzip(encoding)) return null;
  return c.text('The only supported content encoding is gzip.\n', 415, { 'Accept-Encoding': 'gzip' });
}

/**
 * Both names of gzip (RFC 9110, 8.4.1.3). JGit compresses a push of less than a megabyte, and Git a fetch of more than
 * one kilobyte.
 */
function isGzip(encoding: string): boolean {
  return /^(?:x-)?gzip$/i.test(encoding);
}

/** The request's body, inflated if necessary. The limit applies before and after inflating. */
export function gitBody(c: Context<AppEnv>, limits: BodyLimits): LimitedSource {
  const sent = chunksOf(c.req.raw.body, limits);
  const isCompressed = isGzip(c.req.header('Content-Encoding') ?? '');
  return isCompressed ? limited(gunzipped(sent), limits.maxBytes) : sent;
}

/** The length of the body as the client announces it; 0 if it does not. */
export function announcedBytes(c: Context<AppEnv>): number {
  return Number(c.req.header('Content-Length') ?? 0);
}

/**
 * Answers 413 immediately, and keeps the connection open until the client has stopped sending. If the connection broke
 * earlier, the client would never read the answer. Git stops sending when it sees the status.
 */
export function tooLarge(
  c: Context<AppEnv>,
  body: ChunkSource,
  message: string,
  contentType: string,
): Response {
  const init = { status: 413, headers: { 'Content-Type': contentType } };
  // A client that asks first (Expect: 100-continue) has sent nothing, and will not.
  if (c.req.header('Expect') !== undefined && announcedBytes(c) > 0) return new Response(message, init);
  const { readable, writable } = new IdentityTransformStream();
  const writer = new TimedWriter(writable, c.var.config.writeTimeoutMs);
  const answer = writer.write(utf8(message));
  const rest = drain(new ByteReader(body), 'end').then(() => Promise.all([answer, writer.close()]));
  c.executionCtx.waitUntil(rest);
  return new Response(readable, init);
}
