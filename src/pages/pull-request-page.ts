/**
 * The page of a pull request, for an author who gets no notifications. It works without script, and
 * tells a stranger nothing: whoever has its address may read it.
 * Proved by test/pages/pull-request-page.test.ts.
 */
import { html } from 'hono/html';
import type { PullRequestView } from '../durable/pull-request/pull-request.ts';
import type { HistoryEvent, HistoryKind } from '../durable/pull-request/history.ts';
import type { PullRequestStage } from '../durable/pull-request/stages.ts';
import { COPIED, COPY_SCRIPT, commandBlock } from './commands.ts';
import { changesText } from '../text/commit-changes.ts';
import { shellWord } from '../push/reply/commands.ts';
import { pullRequestPath } from '../words/pr-hash.ts';
import {
  conversationItems,
  conversationLines,
  type HappenedLine,
  plainText,
  type ShownConversation,
} from './conversation.ts';
import FOLLOWING_HTML from './fragments/following.html';
import WITHDRAWAL_HTML from './fragments/withdrawal.html';
import {
  card,
  dotted,
  filled,
  folded,
  hostLine,
  type Html,
  OPENED_EARLY,
  type Page,
  visibleText,
} from './layout.ts';
import { CHANGE_FORM, FILE_FORM, remotePath, REPLY_FORM, WITHDRAW_FORM } from './remote-paths.ts';

interface PullRequestPage {
  readonly pullRequest: PullRequestView;
  readonly origin: string;
  readonly needsKey: boolean;
  /** Push options that the repository asks for, such as `-o sign-off `, with a blank at the end. */
  readonly asked: string;
  /** Lines that say why an update would be refused; null: as far as is known, it would not. */
  readonly closed: string | null;
  /** Whether the repository takes replies, as far as is known. */
  readonly takesReplies: boolean;
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

export const EVENTS: Readonly<Record<HistoryKind, string>> = {
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

/** Names a pull request: `octo/hello #7`. */
export const nameOf = ({ owner, repo }: PullRequestView, number: number): string =>
  `${owner}/${repo} #${number}`;

/**
 * Says what has happened, with the number of the pull request if that is an earlier one:
 * `Closed (#21)`, `Updated: 1 commit added`.
 */
function wordsOf({ kind, number, commits }: HistoryEvent, pullRequest: PullRequestView): string {
  const changes = commits === undefined ? '' : changesText({ counts: commits, dropped: [] });
  const words = changes === '' ? EVENTS[kind] : `Updated: ${changes}`;
  return number !== undefined && number !== pullRequest.number ? `${words} (#${number})` : words;
}

/** Lists what has happened, the oldest first, without what the conversation shows itself. */
function happenedTo({ pullRequest, conversation }: PullRequestPage): HappenedLine[] {
  const isShown = conversation.kind === 'shown';
  const isOpeningShown = isShown && conversation.conversation.description !== null;
  return pullRequest.events
    .filter(({ kind, number = pullRequest.number }) => {
      if (kind === 'opened' && number === pullRequest.number) return !isOpeningShown;
      return kind !== 'commented' || !isShown;
    })
    .map((event) => ({ words: wordsOf(event, pullRequest), at: event.at }))
    .toReversed();
}

/** Gives an http address in its encoded form; null for any other, which could run in the page. */
function webUrl(url: string): string | null {
  return URL.canParse(url) && /^https?:\/\//.test(url) ? new URL(url).href : null;
}

/** Gives its title; null if the public may not see it. */
function titleOf({ conversation, pullRequest }: PullRequestPage): string | null {
  if (conversation.kind === 'shown') return plainText(conversation.conversation.title);
  return conversation.kind === 'unknown' && pullRequest.title ? plainText(pullRequest.title) : null;
}

export function pullRequestPage(page: PullRequestPage): Page {
  const { pullRequest, conversation } = page;
  const { owner, repo, number, prHash, state } = pullRequest;
  const name = nameOf(pullRequest, number);
  const { tone, word } = PULL_REQUEST_STATES[state];
  const url = webUrl(pullRequest.url);
  return {
    title: `${name} · gitveil`,
    description: `The state of the anonymous pull request ${name}.`,
    // The address contains the hash, which may be all that an update needs.
    isIndexed: false,
    script: COPY_SCRIPT,
    feedPath: `${pullRequestPath(prHash)}.atom`,
    content: html`<main class="narrow">
      <p class="crumbs"><a href="${remoteOf(pullRequest)}">${owner}/${repo}</a> · pull request #${number}</p>
      <h1><bdi>${titleOf(page) ?? name}</bdi></h1>
      <p class="standing">${dotted(tone, word)} ${meaningOf(pullRequest)}</p>
      ${closedLines(page)} ${nextSteps(page)}
      ${card('conversation', 'Conversation', conversationItems(conversation, happenedTo(page)))} ${COPIED}
      ${updating(page)} ${withdrawing(page)}
      ${folded('follow', 'Follow it', filled(FOLLOWING_HTML, { page: pullRequestPath(prHash) }))}
      ${adoption(page)} ${url === null ? '' : hostLine(url)}
    </main>`,
  };
}

function closedLines({ closed }: PullRequestPage): Html | '' {
  if (closed === null) return '';
  const lines = closed.split('\n').map((line) => html`<p>${visibleText(line)}</p>`);
  return html`<div class="notice bad">${lines}</div>`;
}

function nextSteps(page: PullRequestPage): Html | '' {
  const { prHash, state } = page.pullRequest;
  const reply = replyPath(page);
  const changes = state === 'open' && page.closed === null;
  const change = `${remoteOf(page.pullRequest)}${CHANGE_FORM}?pr_hash=${prHash}`;
  if (reply === null && !changes) return '';
  return html`<p class="buttons">
    ${reply === null ? '' : html`<a class="button" href="${reply}">Reply</a>`}
    ${changes && html`<a class="button second" href="${change}">Change a file</a>`}
  </p>`;
}

/** Gives the path of its remote at the service. */
function remoteOf({ host, owner, repo }: PullRequestView): string {
  return remotePath({ key: host }, { owner, name: repo });
}

interface Command {
  readonly what: string;
  readonly line: string;
}

/** Gives the command of an update; null if it would be refused. */
function updateCommand({ pullRequest, origin, needsKey, asked, closed }: PullRequestPage): Command | null {
  if (closed !== null) return null;
  const options = `-o pr-hash=${pullRequest.prHash} ${needsKey ? '-o pr-key=<key> ' : ''}${asked}`;
  const remote = shellWord(origin + remoteOf(pullRequest));
  const line = `git push ${options}${remote} HEAD:refs/heads/my-change`;
  return { what: 'Update it: commit, then push', line };
}

/** Gives the command of a withdrawal; null if there is nothing to withdraw. */
function withdrawalCommand({ pullRequest, origin }: PullRequestPage): Command | null {
  if (pullRequest.state !== 'open') return null;
  const options = `-o withdraw -o pr-hash=${pullRequest.prHash} -o pr-key=<key>`;
  const remote = shellWord(origin + remoteOf(pullRequest));
  const line = `git push ${options} ${remote} HEAD:refs/heads/withdraw`;
  return { what: 'Withdraw it, in any clone: put your key in place of <key>', line };
}

/** Gives the path of the reply form; null if the thread takes no reply. */
function replyPath({ pullRequest, conversation, takesReplies }: PullRequestPage): string | null {
  const isLocked = conversation.kind === 'shown' && conversation.conversation.isLocked;
  return isLocked || !takesReplies ? null : `${remoteOf(pullRequest)}${REPLY_FORM}?to=${pullRequest.number}`;
}

function updating(page: PullRequestPage): Html | '' {
  const command = updateCommand(page);
  if (command === null) return '';
  const form = `${remoteOf(page.pullRequest)}${FILE_FORM}?pr_hash=${page.pullRequest.prHash}`;
  const content = html`${commandBlock(command.what, command.line)}
    <p>No way to push? <a href="${form}">Send a bundle or a patch</a> with all its commits.</p>`;
  return folded('update', 'Update it with Git', content);
}

function withdrawing(page: PullRequestPage): Html | '' {
  const command = withdrawalCommand(page);
  if (command === null) return '';
  const form = `${remoteOf(page.pullRequest)}${WITHDRAW_FORM}?pr_hash=${page.pullRequest.prHash}`;
  const content = html`<p><a href="${form}">Withdraw it in the browser</a>: you need its key.</p>
    ${commandBlock(command.what, command.line)} ${filled(WITHDRAWAL_HTML)}`;
  return folded('withdraw', 'Withdraw it', content);
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
  return folded('adopt', 'Adopt this contribution', content);
}

/** Makes the text for a terminal. */
export function pullRequestPageText(page: PullRequestPage): string {
  const { pullRequest, origin, conversation, closed } = page;
  const { state, number, prHash } = pullRequest;
  const title = titleOf(page);
  const url = webUrl(pullRequest.url);
  const reply = replyPath(page);
  const commands = [updateCommand(page), withdrawalCommand(page)].filter((command) => command !== null);
  const lines = [
    nameOf(pullRequest, number),
    ...(title === null ? [] : [title]),
    '',
    `${PULL_REQUEST_STATES[state].word}. ${meaningOf(pullRequest)}`,
    '',
    ...conversationLines(conversation, happenedTo(page)),
    '',
    ...(closed?.split('\n') ?? []),
    ...(reply === null ? [] : [`Reply: ${origin}${reply}`]),
    ...commands.flatMap(({ what, line }) => [`${what}:`, `  ${line}`]),
    'Adopt this contribution as a maintainer:',
    `  ${adoptionCommand(page)}`,
    '',
    `Feed: ${origin}${pullRequestPath(prHash)}.atom`,
    ...(url === null ? [] : [`At the code host: ${url}`, OPENED_EARLY]),
  ];
  // This removes control sequences, and characters that reverse the direction of the text.
  return lines.map((line) => `${line.replaceAll(/[\p{Cc}\p{Cf}]/gu, ' ')}\n`).join('');
}
