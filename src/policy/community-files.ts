/**
 * Reads what a repository asks of contributors outside `.gitveil.yml`: its list of vouched
 * accounts, its template for pull requests, and where its guidelines are. The names of these files
 * are documented at github.com/mitchellh/vouch (README, "Vouched File Format") and at
 * docs.github.com (pull request templates, community health files).
 */
import { decodeUtf8 } from '../git/bytes.ts';
import type { FileAnswer } from '../host/code-host.ts';
import type { HostKind } from '../host/kinds.ts';
import type { Oid } from '../git/objects/oid.ts';
import { oneLine } from '../words/host-text.ts';
import { type Gate, type ReadAll, readGates } from './gates.ts';

/** A repository's files at the tip of its default branch. */
export interface FilesHost {
  /**
   * Lists the names in a folder with their objects, with a slash behind folders; nothing if there
   * is no such folder.
   */
  list(folder: string): Promise<ReadonlyMap<string, Oid>>;
  file(path: string): Promise<FileAnswer>;
  /** Reads objects by their ids, in one request, and folders with the files in them. */
  readonly readAll: ReadAll;
}

/** The bot's standing in the list of vouched accounts, which is at `path`. */
interface Standing {
  readonly kind: 'vouched' | 'unlisted' | 'denounced' | 'unreadable';
  readonly path: string;
  /** The bot's login; empty if the list is unreadable. */
  readonly bot: string;
  /** Why the bot is denounced, or what is wrong with the list; null if the list gives no reason. */
  readonly reason: string | null;
}

/** Facts from these files, and the paths of some; null where there is no such file. */
export interface CommunityFiles {
  readonly standing: Standing | null;
  /** The template, or the folder of several, with a slash at its end. */
  readonly template: string | null;
  readonly contributing: string | null;
  readonly security: string | null;
  readonly hasSubmodules: boolean;
  readonly hasWorkflows: boolean;
  /** Checks on what is opened there, as far as its files show them. */
  readonly gates: readonly Gate[];
}

export const NO_FILES: CommunityFiles = {
  standing: null,
  template: null,
  contributing: null,
  security: null,
  hasSubmodules: false,
  hasWorkflows: false,
  gates: [],
};

/** Matches folders that may have workflows: GitHub's, which other hosts read, too, and theirs. */
export const WORKFLOW_HOME = /^\.(?:github|gitea|forgejo)\/$/;
export const WORKFLOWS = /^\.(?:github|gitea|forgejo)\/workflows(?:\/|$)/;

const LISTS = ['VOUCHED.td', '.github/VOUCHED.td'];
/** The largest list that is read: some 10,000 accounts. */
export const MAX_LIST_BYTES = 256 * 1024;

/**
 * Patterns as GitHub applies them: without regard to case, `.github` first, then root and `docs`.
 */
const TEMPLATE = /^pull_request_template(?:\.md|\.txt)?$/i;
const TEMPLATES = /^pull_request_template\/$/i;
const CONTRIBUTING = /^contributing(?:\.\w{1,10})?$/i;
const SECURITY = /^security(?:\.\w{1,10})?$/i;
const DOCS = /^docs\/$/i;

/**
 * Reads them with two listings at once, then at most one file or one more listing: with a vouch
 * list, or a template elsewhere, nothing in `docs/` is found. One request more reads the gates, if
 * there may be some; none are known if that fails. Rejects if anything else stays unknown, because
 * a missing answer is no consent.
 */
export async function readCommunityFiles(
  files: FilesHost,
  kind: HostKind,
  botLogin: () => Promise<string | null>,
): Promise<CommunityFiles> {
  const [root, github] = await Promise.all([files.list(''), files.list('.github')]);
  const paths = new Map([...within('.github/', github), ...root]);
  // The root comes first, as in vouch itself. A folder in place of the list makes it unreadable.
  const list = LISTS.find((path) => paths.has(path) || paths.has(`${path}/`));
  const standing = list === undefined ? null : await standingIn(files, list, kind, botLogin);
  const template = (): string | null => findPath(paths, TEMPLATE) ?? findPath(paths, TEMPLATES);
  const docs = [...root.keys()].find((name) => DOCS.test(name));
  if (standing === null && template() === null && docs !== undefined)
    for (const [path, oid] of within(docs, await files.list(docs.slice(0, -1)))) paths.set(path, oid);
  const contributing = findPath(paths, CONTRIBUTING);
  return {
    standing,
    template: template(),
    contributing,
    security: findPath(paths, SECURITY),
    hasSubmodules: root.has('.gitmodules'),
    hasWorkflows: [...paths.keys()].some(
      (name) => WORKFLOWS.test(name) || /^\.(?:gitea|forgejo)\/$/.test(name),
    ),
    gates: await readGates(paths, contributing, files.readAll).catch(() => []),
  };
}

/** Finds the file about vulnerabilities, in the places where GitHub looks for it. */
export async function securityPath(files: FilesHost): Promise<string | null> {
  const [root, github] = await Promise.all([files.list(''), files.list('.github')]);
  const found = findPath(new Map([...within('.github/', github), ...root]), SECURITY);
  const docs = [...root.keys()].find((name) => DOCS.test(name));
  if (found !== null || docs === undefined) return found;
  return findPath(new Map(within(docs, await files.list(docs.slice(0, -1)))), SECURITY);
}

function within(folder: string, names: ReadonlyMap<string, Oid>): [string, Oid][] {
  return [...names].map(([name, oid]) => [folder + name, oid]);
}

function findPath(paths: ReadonlyMap<string, Oid>, pattern: RegExp): string | null {
  return (
    [...paths.keys()].find((path) => pattern.test(path.replace(/^(?:\.github|docs)\/(?=.)/i, ''))) ?? null
  );
}

async function standingIn(
  files: FilesHost,
  path: string,
  kind: HostKind,
  botLogin: () => Promise<string | null>,
): Promise<Standing> {
  const unreadable = (reason: string): Standing => ({ kind: 'unreadable', path, bot: '', reason });
  const file = await files.file(path);
  if (file.kind !== 'file') return unreadable('it is no file, or too large');
  if (file.content.byteLength > MAX_LIST_BYTES) return unreadable('it is larger than 256 KB');
  const text = decodeUtf8(file.content);
  if (text === null) return unreadable('it is not UTF-8');
  const bot = await botLogin();
  if (bot === null) return unreadable('this service has no bot account');
  return { path, bot, ...vouchedStanding(text, bot, kind) };
}

/**
 * Reads a list as vouch does: the first line that names the account decides, case does not matter,
 * and a handle without a platform stands for all. Unlike vouch, it also takes `--name` and `-@name`
 * for a denunciation, because people do.
 */
export function vouchedStanding(
  text: string,
  login: string,
  kind: HostKind,
): Pick<Standing, 'kind' | 'reason'> {
  const wanted = login.toLowerCase();
  for (const line of text.replace(/^\uFEFF/, '').split('\n')) {
    const trimmed = line.trim();
    if (trimmed.startsWith('#')) continue;
    const [word = '', ...words] = trimmed.split(' ');
    const isDenounced = word.startsWith('-');
    const handle = isDenounced ? word.replace(/^-+@?/, '') : word;
    const colon = handle.indexOf(':');
    const platform = handle.slice(0, Math.max(0, colon)).toLowerCase();
    if (handle.slice(colon + 1).toLowerCase() !== wanted || (colon >= 0 && platform !== kind)) continue;
    if (!isDenounced) return { kind: 'vouched', reason: null };
    return { kind: 'denounced', reason: reasonIn(words.join(' ')) || null };
  }
  return { kind: 'unlisted', reason: null };
}

/** Matches what cannot be seen, and what would end a quotation. */
const UNQUOTED = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}"`“”„‟«»]/gu;
const WEB_ADDRESS = /:\/\/|\bwww\.|\w\.\w+[/?#]/i;

/**
 * Removes web addresses from a stranger's words, which people read on a service that they trust.
 */
function reasonIn(text: string): string {
  const words = oneLine(text.replaceAll(UNQUOTED, '')).split(' ');
  return words
    .filter((word) => !WEB_ADDRESS.test(word))
    .join(' ')
    .trim();
}
