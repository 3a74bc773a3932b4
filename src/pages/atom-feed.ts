/**
 * The feed of a pull request, for an author who gets no notifications.
 * Proved by test/pages/atom-feed.test.ts.
 */
import { createHash } from 'node:crypto';
import { escapeToBuffer } from 'hono/utils/html';
import type { HistoryEvent, HistoryKind } from '../durable/pull-request/history.ts';
import type { PullRequestView } from '../durable/pull-request/pull-request.ts';
import { changesText } from '../text/commit-changes.ts';
import { pullRequestPath } from '../words/pr-hash.ts';
import { isoTime } from './layout.ts';
import { EVENTS, nameOf, PULL_REQUEST_STATES } from './pull-request-page.ts';

/** Texts of a feed's entries, because its readers may show nothing else. */
const EVENT_TEXTS: Readonly<Record<HistoryKind, string>> = {
  opened: PULL_REQUEST_STATES.open.meaning,
  updated: 'It has other commits than before.',
  commented: 'Somebody has commented on it. Its page shows what they wrote.',
  reviewed: 'Somebody has reviewed it. Its page shows what they wrote.',
  approved: 'A reviewer has approved it. Its page shows what they wrote.',
  'changes-requested': 'A reviewer asks for changes. Push an update to make them.',
  reopened: 'It is open again.',
  merged: PULL_REQUEST_STATES.merged.meaning,
  closed: PULL_REQUEST_STATES.closed.meaning,
  withdrawn: PULL_REQUEST_STATES.withdrawn.meaning,
};

export const ATOM_TYPE = 'application/atom+xml; charset=utf-8';

/**
 * Makes an Atom feed (RFC 4287). Its ids do not depend on the service's address. Feed readers fetch
 * links, so none leads to the host, which would learn who follows. They take a changed entry for a
 * new one, so each entry stays as it was.
 */
export function atomFeed(pullRequest: PullRequestView, origin: string): string {
  const { prHash, events, number: current } = pullRequest;
  const name = nameOf(pullRequest, current);
  const page = xmlText(`${origin}${pullRequestPath(prHash)}`);
  const entries = events.flatMap(({ id, kind, at, number = current, title, commits }) => [
    '  <entry>',
    `    <id>${idOf(`${prHash} ${id}`)}</id>`,
    `    <title>${xmlText(`${nameOf(pullRequest, number)}: ${EVENTS[kind].toLowerCase()}`)}</title>`,
    `    <updated>${isoTime(at)}</updated>`,
    `    <content type="text">${xmlText([...(title ? [title] : []), textOf(kind, commits)].join('\n'))}</content>`,
    `    <link rel="alternate" href="${page}"/>`,
    '  </entry>',
  ]);
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<feed xmlns="http://www.w3.org/2005/Atom">',
    `  <id>${idOf(prHash)}</id>`,
    `  <title>${xmlText(name)}</title>`,
    `  <updated>${isoTime(events[0]?.at ?? 0)}</updated>`,
    '  <author><name>gitveil</name></author>',
    `  <link rel="self" type="application/atom+xml" href="${page}.atom"/>`,
    `  <link rel="alternate" type="text/html" href="${page}"/>`,
    ...entries,
    '</feed>',
    '',
  ].join('\n');
}

function textOf(kind: HistoryKind, commits: HistoryEvent['commits']): string {
  const changes = commits === undefined ? '' : changesText({ counts: commits, dropped: [] });
  return changes === '' ? EVENT_TEXTS[kind] : `${changes}.`;
}

/** Makes a UUID of version 8 (RFC 9562, section 5.8) from a hash of `name`. */
function idOf(name: string): string {
  const bytes = createHash('sha256').update(`gitveil pull request ${name}`).digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return `urn:uuid:${hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')}`;
}

/** Matches what is no character in XML 1.0 (section 2.2), including lone surrogates. */
// eslint-disable-next-line no-control-regex
const NO_CHARACTER = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

/** Escapes text for an element or for quotes, as HTML does. */
export function xmlText(text: string): string {
  const escaped: [string] = [''];
  escapeToBuffer(text.replaceAll(NO_CHARACTER, '\uFFFD'), escaped);
  return escaped[0];
}
