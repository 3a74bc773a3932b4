/**
 * Whole commands for the person's next step: `git push` with options, or what posts a file.
 * Proved by test/push/reply/banner.test.ts and test/push/reply/review.test.ts.
 */
import { utf8 } from '../../git/bytes.ts';
import type { Oid } from '../../git/objects/oid.ts';
import { replaceUnseen, visible } from '../../words/host-text.ts';
import type { PostDoor, PushSettings } from '../push-host.ts';
import type { Pushed, PushRun } from '../push-run.ts';

/** Options and names that a later push must repeat to change the same pull request. */
export interface Repeated {
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

/** Where a command sends something, and in which way. */
export type CommandTarget = Pick<Repeated, 'remoteUrl' | 'refName' | 'door'>;

/** Git wants a ref for a withdrawal, and nothing is pushed to it. */
const WITHDRAWN_REF = 'refs/heads/withdraw';

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
export function usualOptions(repeated: Repeated): string[] {
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
  { remoteUrl, refName, door }: CommandTarget,
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
export function oneBranchCommand(tip: Oid, { remoteUrl, refName, door }: CommandTarget): string {
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

/** Writes a value as an address has it, but what the person has to fill in: `<branch>`. */
function inAddress(value: string): string {
  return /^<[a-z]+>$/.test(value) ? value : encodeURIComponent(value).replaceAll('%2C', ',');
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

/** The command that withdraws. What is null, the person has to fill in. */
export function withdrawalCommand(
  prHash: string | null,
  key: string | null,
  { remoteUrl, door, refName = WITHDRAWN_REF }: Omit<CommandTarget, 'refName'> & Partial<CommandTarget>,
): string {
  const options = ['withdraw', `pr-hash=${prHash ?? '<hash>'}`, `pr-key=${key ?? '<key>'}`];
  return pushCommand(options, { remoteUrl, refName, door });
}
