/**
 * The events of a pull request as an Atom feed (RFC 4287).
 *
 * Ids depend only on the hash, so that a feed reader recognises an entry even if the service's address has changed. All
 * links lead to the page, because feed readers fetch what is linked, and so would tell the code host who follows.
 */
import { createHash } from 'node:crypto';
import type { PullRequestView } from '../durable/pull-request/pull-request.ts';
import type { HistoryEvent } from '../durable/pull-request/history.ts';
import { pullRequestPath } from '../pr-hash.ts';
import { isoTime } from './layout.ts';
import { eventTitle, pullRequestName } from './pull-request-page.ts';

export const ATOM_TYPE = 'application/atom+xml; charset=utf-8';

/** @param origin where the service is found, without a slash at the end. */
export function atomFeed(pullRequest: PullRequestView, origin: string): string {
  const { prHash, events } = pullRequest;
  const page = `${origin}${pullRequestPath(prHash)}`;
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<feed xmlns="http://www.w3.org/2005/Atom">',
    `  <id>${idOf(prHash)}</id>`,
    `  <title>${xmlText(pullRequestName(pullRequest))}</title>`,
    `  <updated>${isoTime(events[0]?.at ?? 0)}</updated>`,
    '  <author><name>gitveil</name></author>',
    `  <link rel="self" type="application/atom+xml" href="${xmlText(`${page}.atom`)}"/>`,
    `  <link rel="alternate" type="text/html" href="${xmlText(page)}"/>`,
    ...events.map((event) => entry(event, pullRequest, page)),
    '</feed>',
    '',
  ].join('\n');
}

function entry(event: HistoryEvent, pullRequest: PullRequestView, page: string): string {
  return [
    '  <entry>',
    `    <id>${idOf(`${pullRequest.prHash} ${event.id}`)}</id>`,
    `    <title>${xmlText(`${pullRequestName(pullRequest)}: ${eventTitle(event).toLowerCase()}`)}</title>`,
    `    <updated>${isoTime(event.at)}</updated>`,
    `    <link rel="alternate" href="${xmlText(page)}"/>`,
    '  </entry>',
  ].join('\n');
}

/** An UUID of version 8 (RFC 9562, section 5.8): a hash of `name`. */
function idOf(name: string): string {
  const bytes = createHash('sha256').update(`gitveil pull request ${name}`).digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return `urn:uuid:${hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')}`;
}

/** Everything that is not a character in XML 1.0 (section 2.2), including lone surrogates. */
// eslint-disable-next-line no-control-regex
const NO_CHARACTER = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for an element or for quotes. */
export function xmlText(text: string): string {
  return text
    .replaceAll(NO_CHARACTER, '\uFFFD')
    .replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
