/** What both Git services share on the HTTP side (gitprotocol-http, "General Request Processing"). */
import type { Context } from 'hono';
import type { AppEnv } from '../env.ts';
import type { ByteReader } from '../git/byte-reader.ts';
import { utf8 } from '../git/bytes.ts';
import { fullName, type RepositoryName } from '../host/repository-name.ts';
import { drain } from '../streams.ts';

/** Refs and packs are of the moment; no cache may keep them. */
export const NO_CACHE = {
  'Cache-Control': 'no-cache, max-age=0, must-revalidate',
  Expires: 'Fri, 01 Jan 1980 00:00:00 GMT',
  Pragma: 'no-cache',
};

/** A client that follows this redirect uses the new name for the requests after it, too. */
export function redirectToMoved(c: Context<AppEnv>, movedTo: RepositoryName, service: string): Response {
  return c.redirect(`/v1/gh/${fullName(movedTo)}/info/refs?service=${service}`, 301);
}

/** Null if the request has the one content type that its endpoint takes. */
export function wrongContentType(c: Context<AppEnv>, expected: string): Response | null {
  return c.req.header('Content-Type') === expected
    ? null
    : c.text(`The content type must be ${expected}.\n`, 415);
}

/** The length of the body as the client announces it; 0 if it does not. */
export function announcedBytes(c: Context<AppEnv>): number {
  return Number(c.req.header('Content-Length') ?? 0);
}

/**
 * Answers 413 at once, and keeps the connection until the client has stopped sending: one that breaks while it still
 * sends never reads the answer. Git stops when it sees the status.
 */
export function tooLarge(
  c: Context<AppEnv>,
  reader: ByteReader,
  message: string,
  contentType: string,
): Response {
  const init = { status: 413, headers: { 'Content-Type': contentType } };
  // A client that asks first has sent nothing, and will not.
  if (c.req.header('Expect') !== undefined && announcedBytes(c) > 0) return new Response(message, init);
  const { readable, writable } = new IdentityTransformStream();
  const writer = writable.getWriter();
  const answer = writer.write(utf8(message)).catch(() => {});
  const rest = drain(reader).then(() => Promise.all([answer, writer.close().catch(() => {})]));
  c.executionCtx.waitUntil(rest);
  return new Response(readable, init);
}
