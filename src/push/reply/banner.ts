/**
 * Lines that the person needs later, as nobody else keeps them: secrets come first, so that an
 * answer whose end is lost has lost none, and all else comes last. Where updates need the key, the
 * last line repeats it in the command.
 */
import type { DelayReason, DelayWindow } from '../../durable/delayed-pushes/delayed-push.ts';
import { utf8 } from '../../git/bytes.ts';
import type { Oid } from '../../git/objects/oid.ts';
import { replaceUnseen, visible } from '../../words/host-text.ts';
import type { PostDoor, PushSettings } from '../push-host.ts';
import type { Pushed, PushRun } from '../push-run.ts';

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

/** Options and names that a later push must repeat to change the same pull request. */
interface Repeated {
  /** The pull request; null: none is open yet. */
  readonly prHash: string | null;
  /** The key, or `<key>` in its place; null if updates need none. */
  readonly prKey: string | null;
  readonly isSignedOff: boolean;
  readonly stripsTrails: boolean;
  readonly isSquashed: boolean;
  /** The branch that the option `base` named; null if it was not given. */
  readonly base: string | null;
  readonly remoteUrl: string;
  readonly refName: string;
  readonly door: PushSettings['door'];
}

/**
 * Quotes a word for a shell, because ref names may contain characters that are special there. What
 * nobody sees, as in an emoji of several, gets an escape: the terminal's own would be published.
 */
export function shellWord(text: string): string {
  if (/^[\w./:@%+=,-]+$/.test(text)) return text;
  if (visible(text) === text) return `'${text.replaceAll("'", String.raw`'\''`)}'`;
  return `$'${replaceUnseen(text.replaceAll(/['\\]/g, String.raw`\$&`), inOctal)}'`;
}

/** Writes the bytes of a character as a shell reads them in `$'…'` (POSIX.1-2024, 2.2.4). */
function inOctal(mark: string): string {
  return Array.from(utf8(mark), (byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
}

/** Writes an option of a push; none if it is not given. */
function option(name: string, value: string | number | boolean | null): string[] {
  if (value === null || value === false) return [];
  return [value === true ? name : `${name}=${value}`];
}

const nameOf = (given: string): string => given.split('=', 1).join();

/** The options that every change of a pull request needs. */
function usualOptions(repeated: Repeated): string[] {
  const { prHash, prKey, isSquashed, isSignedOff, stripsTrails, base } = repeated;
  return [
    ...option('pr-hash', prHash),
    ...option('pr-key', prKey),
    ...option('squash', isSquashed),
    ...option('sign-off', isSignedOff),
    ...option('strip-trails', stripsTrails),
    ...option('base', base),
  ];
}

/** @param source what Git pushes. */
export function pushCommand(
  options: readonly string[],
  { remoteUrl, refName, door }: Pick<Repeated, 'remoteUrl' | 'refName' | 'door'>,
  source = 'HEAD',
): string {
  if (door !== 'git') return postCommand(door, options, remoteUrl);
  const words = options.flatMap((each) => ['-o', shellWord(each)]);
  return ['git push', ...words, remoteUrl, shellWord(`${source}:${refName}`)].join(' ');
}

/**
 * The command that sends one branch, and no tag or other branch with it.
 * @param tip the newest commit, because nobody here knows what the branch is called at home, and
 * HEAD may be another one. A bundle has the name.
 */
export function oneBranchCommand(
  tip: Oid,
  { remoteUrl, refName, door }: Pick<Repeated, 'remoteUrl' | 'refName' | 'door'>,
): string {
  if (door === 'git')
    return `git push --no-follow-tags ${remoteUrl} ${shellWord(`${tip.slice(0, 12)}:${refName}`)}`;
  const branch = shellWord(refName.replace('refs/heads/', ''));
  const address = shellWord(`${remoteUrl}/${door.name}`);
  return `git bundle create - ${branch} --not --remotes | curl --data-binary @- ${address}`;
}

/** The header with the push option `pr-key`, because proxies log addresses. */
export const PR_KEY = 'X-PR-Key';
const isKey = (given: string): boolean => nameOf(given) === 'pr-key';

/**
 * Writes the command that posts a file, and leaves its name to the person: what is checked out may
 * be other work than was sent.
 */
function postCommand({ name, used }: PostDoor, options: readonly string[], remoteUrl: string): string {
  const names = new Set(options.map(nameOf));
  const isWithdrawal = names.has('withdraw');
  const kept = isWithdrawal ? [] : used.filter((each) => !names.has(nameOf(each)));
  const query = [...options, ...kept]
    .filter((each) => !isKey(each))
    .map((each) => {
      const value = each.slice(nameOf(each).length);
      return nameOf(each) + (value === '' ? '' : `=${inAddress(value.slice(1))}`);
    });
  const address = `${remoteUrl}/${name}${query.length === 0 ? '' : `?${query.join('&')}`}`;
  const keys = options
    .filter(isKey)
    .flatMap((each) => ['-H', shellWord(`${PR_KEY}: ${each.slice('pr-key='.length)}`)]);
  const body = isWithdrawal ? ['-X', 'POST'] : ['--data-binary', shellWord('@<your file>')];
  return ['curl', ...body, ...keys, shellWord(address)].join(' ');
}

/** Writes a value as an address has it, but what the person has to fill in. */
function inAddress(value: string): string {
  return /^<.*>$/.test(value) ? value : encodeURIComponent(value).replaceAll('%2C', ',');
}

interface Again extends Pick<Repeated, 'prHash' | 'prKey'> {
  /**
   * Whether the same commits are pushed. They are named then, because another branch may be checked
   * out, or may be when the command is run.
   */
  readonly isSame: boolean;
}

/**
 * The command that pushes once more.
 * @param more options besides those that it had; they replace others of their name, and the last of
 * a name counts.
 */
export function repeatCommand(
  { settings, target }: Pick<PushRun, 'settings' | 'target'>,
  { options, taken }: Pushed,
  { isSame, ...named }: Again,
  more: readonly string[],
): string {
  const { signOff: isSignedOff, stripTrails: stripsTrails, squash: isSquashed } = options;
  const { base, description, delayMs } = options;
  const { newId, refName } = taken.command;
  const remoteUrl = settings.remoteUrl(target);
  const { door } = settings;
  const repeated = { ...named, isSignedOff, stripsTrails, isSquashed, base, remoteUrl, refName, door };
  const given = [
    ...usualOptions(repeated),
    ...option('title', options.title),
    ...(description?.split('\n').map((line) => `description=${line}`) ?? []),
    ...option('ai', options.ai),
    ...option('issue', options.issue),
    ...option('draft', options.draft),
    ...option('publish-names', options.publishNames),
    ...option('delay', delayMs === null ? null : `${delayMs / 1000}s`),
    ...option('wait', options.wait),
    ...option('yes', options.yes.join(',') || null),
  ];
  const replacing = new Map(more.map((each) => [nameOf(each), each]));
  const kept = given.filter((each) => !replacing.has(nameOf(each)));
  return pushCommand([...kept, ...replacing.values()], repeated, isSame ? newId.slice(0, 12) : 'HEAD');
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

/** The command that withdraws. What is null, the person has to fill in. */
export function withdrawalCommand(
  prHash: string | null,
  key: string | null,
  to: Parameters<typeof pushCommand>[1],
): string {
  return pushCommand(['withdraw', `pr-hash=${prHash ?? '<hash>'}`, `pr-key=${key ?? '<key>'}`], to);
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
