/**
 * The page of a pull request and its feed, for an author who gets no notifications. The page works
 * without script.
 */
import { createHash } from 'node:crypto';
import { html } from 'hono/html';
import { escapeToBuffer } from 'hono/utils/html';
import { repositoryPath } from '../config/hosts.ts';
import type { PullRequestView } from '../durable/pull-request/pull-request.ts';
import type { HistoryEvent, HistoryKind } from '../durable/pull-request/history.ts';
import type { PullRequestStage } from '../durable/pull-request/stages.ts';
import { COPIED, COPY_SCRIPT, commandBlock } from './commands.ts';
import { shellWord } from '../push/reply/banner.ts';
import { pullRequestPath } from '../words/pr-hash.ts';
import { conversationLines, conversationSection, plainText, type ShownConversation } from './conversation.ts';
import FOLLOWING_HTML from './fragments/following.html';
import OPEN_HTML from './fragments/open.html';
import WITHDRAWAL_HTML from './fragments/withdrawal.html';
import {
  card,
  dotted,
  factList,
  filled,
  hostLine,
  type Html,
  isoTime,
  listCard,
  type Page,
  timeElement,
  visibleText,
} from './layout.ts';

interface PullRequestPage {
  readonly pullRequest: PullRequestView;
  readonly origin: string;
  readonly needsKey: boolean;
  /** Push options that the repository asks for, such as `-o sign-off `, with a blank at the end. */
  readonly asked: string;
  /** Lines that say why an update would be refused; null: as far as is known, it would not. */
  readonly closed: string | null;
  readonly conversation: ShownConversation;
}

const REOPENS = 'An update opens a new pull request.';

/** The word, colour and meaning of each state. */
export const PULL_REQUEST_STATES: Readonly<
  Record<PullRequestStage, { tone: string; word: string; meaning: string }>
> = {
  open: { tone: 'good', word: 'Open', meaning: 'The maintainers have not decided yet.' },
  merged: { tone: 'good', word: 'Merged', meaning: 'The maintainers have accepted it.' },
  closed: { tone: 'warn', word: 'Closed', meaning: `It was closed without a merge. ${REOPENS}` },
  withdrawn: {
    tone: 'warn',
    word: 'Withdrawn',
    meaning: `It was withdrawn through this service. ${REOPENS}`,
  },
};

/** Meanings of the last review of an open pull request, until an update answers it. */
const REVIEWED: Readonly<Partial<Record<HistoryKind, string | null>>> = {
  approved: 'A reviewer has approved it. It is not merged yet.',
  'changes-requested': 'A reviewer asks for changes. Push an update to make them.',
  reviewed: null,
  updated: null,
  opened: null,
};

function meaningOf({ state, events }: PullRequestView): string {
  const review = events.find(({ kind }) => kind in REVIEWED);
  const meaning = review === undefined || state !== 'open' ? null : REVIEWED[review.kind];
  return meaning ?? PULL_REQUEST_STATES[state].meaning;
}

const EVENTS: Readonly<Record<HistoryKind, string>> = {
  opened: 'Opened',
  updated: 'Updated with new commits',
  commented: 'New comment',
  reviewed: 'New review',
  approved: 'Approved',
  'changes-requested': 'Changes requested',
  reopened: 'Reopened',
  merged: 'Merged',
  closed: 'Closed',
  withdrawn: 'Withdrawn',
};

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

/** Names a pull request: `octo/hello #7`. */
const nameOf = ({ owner, repo }: PullRequestView, number: number): string => `${owner}/${repo} #${number}`;

/**
 * Names an event, with the number of the pull request if that is an earlier one: `Closed (#21)`.
 */
function wordsOf({ kind, number }: HistoryEvent, pullRequest: PullRequestView): string {
  const isEarlier = number !== undefined && number !== pullRequest.number;
  return isEarlier ? `${EVENTS[kind]} (#${number})` : EVENTS[kind];
}

function eventUrl({ url }: HistoryEvent, pullRequest: PullRequestView): string {
  return webUrl(url) ?? webUrl(pullRequest.url) ?? '';
}

/** Gives an http address in its encoded form; null for any other, which could run in the page. */
function webUrl(url: string): string | null {
  return URL.canParse(url) && /^https?:\/\//.test(url) ? new URL(url).href : null;
}

export function pullRequestPage(page: PullRequestPage): Page {
  const { pullRequest } = page;
  const name = nameOf(pullRequest, pullRequest.number);
  return {
    title: `${name} · gitveil`,
    description: `The state of the anonymous pull request ${name}.`,
    // The address contains the hash, which may be all that an update needs.
    isIndexed: false,
    script: COPY_SCRIPT,
    feedPath: `${pullRequestPath(pullRequest.prHash)}.atom`,
    content: html`<main class="narrow">
      <h1>${name}</h1>
      <p class="lead">An anonymous pull request. This page shows its state. Reload it to see what is new.</p>
      ${facts(page)} ${history(pullRequest)} ${conversationSection(page.conversation, replyLink(page))}
      ${commands(page)} ${adoption(page)}
      ${filled(FOLLOWING_HTML, { page: pullRequestPath(pullRequest.prHash) })}
    </main>`,
  };
}

function facts({ pullRequest, conversation }: PullRequestPage): Html {
  const { tone, word } = PULL_REQUEST_STATES[pullRequest.state];
  const url = webUrl(pullRequest.url);
  const list = factList({
    Title: titleIn(conversation),
    State: html`${dotted(tone, word)} <small>${meaningOf(pullRequest)}</small>`,
    Hash: html`<span class="mono">${pullRequest.prHash}</span>`,
  });
  return card('standing', 'Status', html`${list} ${url === null ? '' : hostLine(url)}`);
}

function titleIn(shown: ShownConversation): string | null {
  return shown.kind === 'shown' ? plainText(shown.conversation.title) : null;
}

function history(pullRequest: PullRequestView): Html {
  const items = pullRequest.events.map((event) => {
    const link = html`<a href="${eventUrl(event, pullRequest)}">${wordsOf(event, pullRequest)}</a>`;
    return html`<li>${link} ${timeElement(isoTime(event.at))}</li>`;
  });
  return listCard('events', 'What has happened', items, 'Nothing is known yet.');
}

/** Gives the path of its remote at the service. */
function remoteOf({ host, owner, repo }: PullRequestView): string {
  return `/v1/${repositoryPath({ key: host }, { owner, name: repo })}`;
}

function commandLines({ pullRequest, origin, needsKey, asked, closed }: PullRequestPage): {
  what: string;
  line: string;
}[] {
  const hash = `-o pr-hash=${pullRequest.prHash}`;
  const key = '-o pr-key=<key>';
  const remote = shellWord(origin + remoteOf(pullRequest));
  const update = {
    what: 'Update it: commit, then push',
    line: `git push ${hash}${needsKey ? ` ${key}` : ''} ${asked}${remote} HEAD:refs/heads/my-change`,
  };
  const withdraw = {
    what: 'Withdraw it, in any clone: put your key in place of <key>',
    line: `git push -o withdraw ${hash} ${key} ${remote} HEAD:refs/heads/withdraw`,
  };
  return [...(closed === null ? [update] : []), ...(pullRequest.state === 'open' ? [withdraw] : [])];
}

function replyLink({ pullRequest, conversation }: PullRequestPage): Html | '' {
  if (conversation.kind === 'shown' && conversation.conversation.isLocked) return '';
  const form = `${remoteOf(pullRequest)}/reply?to=${pullRequest.number}`;
  return html`<p><a href="${form}">Reply</a> without an account.</p>`;
}

function commands(page: PullRequestPage): Html {
  const { prHash: hash, state } = page.pullRequest;
  const items = commandLines(page).map(({ what, line }) => commandBlock(what, line));
  const remote = remoteOf(page.pullRequest);
  const [open, withdrawal] = [filled(OPEN_HTML, { remote, hash }), filled(WITHDRAWAL_HTML)];
  const isOpen = state === 'open';
  const why = page.closed?.split('\n').map((line) => html`<p>${visibleText(line)}</p>`);
  const first = why ?? (isOpen && open);
  return card('change', 'Change it', html`${first} ${items} ${COPIED} ${isOpen && withdrawal}`);
}

/**
 * Makes the command that applies the commits: the bot stays their author, and the sign-off is that
 * of whoever adopts them. Hosts serve the commits as an mbox at `<pr>.patch`.
 */
function adoptionCommand({ pullRequest }: PullRequestPage): string {
  return `curl -fsSL ${shellWord(`${pullRequest.url}.patch`)} | git am --signoff`;
}

function adoption(page: PullRequestPage): Html {
  const content = html`<p>
      Maintainers can apply its commits with a sign-off of their own. The bot stays the author.
    </p>
    ${commandBlock('In a clone', adoptionCommand(page))}`;
  return card('adopt', 'Adopt this contribution', content);
}

/** Makes the text for a terminal. */
export function pullRequestPageText(page: PullRequestPage): string {
  const { pullRequest, origin, conversation, closed } = page;
  const { state, url, events } = pullRequest;
  const title = titleIn(conversation);
  const lines = [
    nameOf(pullRequest, pullRequest.number),
    ...(title === null ? [] : [title]),
    webUrl(url) ?? '',
    '',
    `${PULL_REQUEST_STATES[state].word}. ${meaningOf(pullRequest)}`,
    '',
    ...events.map(
      (event) => `${isoTime(event.at)}  ${wordsOf(event, pullRequest)}  ${eventUrl(event, pullRequest)}`,
    ),
    '',
    ...conversationLines(conversation),
    '',
    ...(closed?.split('\n') ?? []),
    ...commandLines(page).flatMap(({ what, line }) => [`${what}:`, `  ${line}`]),
    'Adopt this contribution as a maintainer:',
    `  ${adoptionCommand(page)}`,
    '',
    `Feed: ${origin}${pullRequestPath(pullRequest.prHash)}.atom`,
  ];
  // This removes control sequences, and characters that reverse the direction of the text.
  return lines.map((line) => `${line.replaceAll(/[\p{Cc}\p{Cf}]/gu, ' ')}\n`).join('');
}

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
  const entries = events.flatMap(({ id, kind, at, number = current, title }) => [
    '  <entry>',
    `    <id>${idOf(`${prHash} ${id}`)}</id>`,
    `    <title>${xmlText(`${nameOf(pullRequest, number)}: ${EVENTS[kind].toLowerCase()}`)}</title>`,
    `    <updated>${isoTime(at)}</updated>`,
    `    <content type="text">${xmlText([...(title ? [title] : []), EVENT_TEXTS[kind]].join('\n'))}</content>`,
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
