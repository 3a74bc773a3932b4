/**
 * Lines that the person needs later, as nobody else keeps them: secrets come first, so that an
 * answer whose end is lost has lost none, and all else comes last. Where updates need the key, the
 * last line repeats it in the command.
 */
import type { DelayReason, DelayWindow } from '../../durable/delayed-pushes/delayed-push.ts';
import { pushCommand, type Repeated, usualOptions, withdrawalCommand } from './commands.ts';

export interface BannerFacts extends Repeated {
  readonly prHash: string;
  readonly updated: boolean;
  /**
   * The changes as `changesText` says them; empty: nothing new; null: nobody knows, or it is no
   * update.
   */
  readonly changes: string | null;
  /** Whether title, description or base of the pull request that it updates were changed. */
  readonly hasEdited: boolean;
  /** Whether an earlier attempt at the same push has begun it, or has opened it already. */
  readonly isRepeated: boolean;
  /** Whether its commits were open already, in another pull request. */
  readonly isDouble: boolean;
  readonly prUrl: string;
  readonly author: string;
  readonly branch: string;
  /** The key of a pull request that this push has opened; null: this answer does not show it. */
  readonly key: string | null;
  readonly isDraft: boolean;
  readonly pageUrl: string;
  /** Comments and reviews since the last push of the pull request. */
  readonly newRemarks: number;
  readonly subscribeUrl: string;
}

/** The first lines of a push that opens a pull request, before anything is published. */
export function keyLines(prHash: string, key: string): string[] {
  return [
    `Save the key now. It is shown once, and only it can withdraw or retitle pull request ${prHash}:`,
    `  PR key:   ${key}`,
  ];
}

/** The last lines of a push that is published, as the contract lists them (4.6, step 8). */
export function bannerLines(facts: BannerFacts): string[] {
  const { updated, isDraft, isRepeated, newRemarks } = facts;
  const opened = isDraft ? 'Your pull request is open as a draft.' : 'Your pull request is open.';
  const comments = newRemarks === 1 ? '1 new comment' : `${newRemarks} new comments`;
  return [
    '',
    ...(updated ? updateLines(facts) : [opened]),
    ...(isRepeated && !updated ? ['You have pushed this before. Only that answer had its key.'] : []),
    ...(newRemarks === 0 ? [] : [`${comments} since your last push: ${facts.pageUrl}`]),
    `  PR URL:   ${facts.prUrl}`,
    `  Author:   ${facts.author}`,
    `  Branch:   ${facts.branch}`,
    `  PR hash:  ${facts.prHash}`,
    `  Notify:   ${facts.subscribeUrl}`,
    `  Follow, reply, withdraw: ${facts.pageUrl}`,
    ...withdrawalLines(facts),
    facts.door === 'git' ? 'To update it, commit again and run:' : 'To update it, send all its commits:',
    `  ${pushCommand(usualOptions(facts), facts)}`,
  ];
}

/** The command that withdraws a second pull request, now that it is open. */
function withdrawalLines(facts: BannerFacts): string[] {
  if (!facts.isDouble) return [];
  return ['To withdraw this one:', `  ${withdrawalCommand(facts.prHash, facts.key, facts)}`];
}

function updateLines(facts: Pick<BannerFacts, 'changes' | 'hasEdited' | 'prUrl'>): string[] {
  const { changes, hasEdited, prUrl } = facts;
  const updated = 'Your pull request has been updated.';
  if (changes === '' && hasEdited) return [`${updated} Its commits stay the same.`];
  if (changes === '') return [`Nothing new: ${prUrl} has these commits already.`];
  return [updated, ...(changes === null ? [] : [`${changes}.`])];
}

export interface DelayedFacts {
  readonly reason: DelayReason;
  readonly window: DelayWindow;
  /**
   * The page of the push. Whoever knows it may publish the push now, or give it up. Null: the same
   * push waits already, and was told it.
   */
  readonly pageUrl: string | null;
}

/** Writes a time to the minute: seconds would reveal too much about when it was pushed. */
export function minuteOf(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/**
 * Completes a sentence. It may be minutes later than planned, because only so many are published at
 * once, and those that are due together may be kept apart.
 */
export function willBePublished({ from, to }: DelayWindow): string {
  return `will be published between ${minuteOf(from)} and ${minuteOf(to)}, or minutes later if others are due, too.`;
}

/** Says why and until when it waits, as a sentence that begins with `Delayed`. */
export function delayedSentence(reason: DelayReason, { from, to }: DelayWindow): string {
  switch (reason) {
    case 'delay':
      return `Delayed: it ${willBePublished({ from, to })}`;
    case 'busy':
      return `Delayed: there is no room for it now. The service tries again until ${minuteOf(to)}.`;
    case 'review':
      return 'Delayed: the operator of this service reviews it before it is published.';
  }
}

/** The one thing that cannot be hidden (docs/privacy.md). */
const SEEN_BY_HOST =
  'The code host has only seen that somebody read this repository just now, as a fetch does.';

/** The first lines of a push that is to wait, before it is kept. */
export function pageLines(pageUrl: string): string[] {
  return [
    'Save this address now. It is shown once, and only there can you change what becomes of this push:',
    `  Page:     ${pageUrl}`,
  ];
}

export function delayedLines({ reason, window, pageUrl }: DelayedFacts): string[] {
  const isNew = pageUrl !== null;
  const can = reason === 'review' ? 'see how it stands, or give it up' : 'publish it now, or give it up';
  return [
    '',
    ...(isNew ? [] : ['This push waits already.']),
    delayedSentence(reason, window),
    'Nothing of it is public yet.',
    // Before a push waits for room, the host was asked all that a live push asks.
    ...(isNew && reason !== 'busy' ? [SEEN_BY_HOST] : []),
    isNew
      ? `At the address above, you can ${can}. Keep it secret: so can everybody who has it.`
      : `It keeps the time and the page that it was told first. Only there can you ${can}.`,
    ...(isNew ? [] : ['If its address is lost, push to a branch of another name.']),
  ];
}

export type Withdrawn = {
  readonly prUrl: string;
  /** Its branch is removed from the fork. */
  readonly hadBranch: boolean;
  /** The ref that its push deletes; null: none. */
  readonly deletedRef: string | null;
} & (
  | { readonly kind: 'closed' | 'merged' | 'gone' }
  /** The host does not close it; `said` tells why. */
  | { readonly kind: 'open'; readonly said: string }
);

/** Says in a sentence what has become of the pull request, and then what else is to be known. */
export function farewell(withdrawn: Withdrawn): [heading: string, ...string[]] {
  const branch = withdrawn.hadBranch ? ['Its branch is removed.'] : [];
  switch (withdrawn.kind) {
    case 'closed':
      return ['Your pull request is withdrawn.'];
    case 'merged':
      return ['Your pull request was already merged.', ...branch];
    case 'gone':
      return ['Your pull request is gone from the code host.', ...branch];
    case 'open':
      return [
        'Your pull request is still open.',
        `${withdrawn.hadBranch ? 'Its branch is removed, but the' : 'The'} code host does not close it:`,
        withdrawn.said,
        'Withdraw it again later, or ask the maintainers to close it.',
      ];
  }
}

export function farewellLines(withdrawn: Withdrawn): string[] {
  const branch = withdrawn.deletedRef?.replace(/^refs\/(?:heads|for)\//, '');
  return [
    '',
    ...farewell(withdrawn),
    `  PR URL:   ${withdrawn.prUrl}`,
    branch === undefined
      ? 'Nothing was pushed, whatever Git says next.'
      : `Git will say that ${branch} is deleted. Upstream still has it: "git fetch" restores it.`,
  ];
}
