/** What both Git services share on the HTTP side (gitprotocol-http, "General Request Processing"). */
import type { Context } from 'hono';
import type { AppEnv } from '../env.ts';
import { fullName, type RepositoryName } from '../host/repository-name.ts';

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
