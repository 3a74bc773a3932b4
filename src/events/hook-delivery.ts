/**
 * Reads what a webhook of the App names. Pure. Nothing else of its body is believed, and the event
 * in its headers is not signed: so its shape alone decides, and what it names is read from the
 * host.
 */
import { parseRepositoryName, type RepositoryName } from '../words/repository-name.ts';

/** A repository as a delivery names it: its number there is only a hint, and may be missing. */
export interface NamedRepository extends RepositoryName {
  readonly id: number | null;
}

/** A thread in which something may have happened. */
export interface TouchedThread {
  readonly repository: RepositoryName;
  readonly number: number;
  readonly isIssue: boolean;
  /** The names that a comment mentions, in small letters. */
  readonly mentions: readonly string[];
}

export type HookDelivery =
  | { readonly kind: 'thread'; readonly thread: TouchedThread }
  /** Something may have changed about the App in these repositories, of which there are some. */
  | { readonly kind: 'installation'; readonly repositories: readonly NamedRepository[] }
  /** There is nothing that the service follows. */
  | { readonly kind: 'other' };

/** The repositories of one delivery that are looked at. Others are asked for within the hour. */
const MOST_REPOSITORIES = 100;
const MOST_MENTIONS = 20;
/** The longest comment of GitHub's. */
const LONGEST_TEXT = 65_536;
/** A login at GitHub. People mention an App without `[bot]`. */
const MENTION = /@[A-Za-z0-9-]{1,39}/g;

type Fields = Readonly<Record<string, unknown>>;

/** @param body what was sent, as JSON. */
export function readHookDelivery(body: unknown): HookDelivery {
  const { repository, issue, pull_request: pull, comment, installation, ...rest } = fieldsOf(body);
  const thread = fieldsOf(issue ?? pull);
  const name = nameOf(repository);
  const { number } = thread;
  if (name !== null && Number.isSafeInteger(number) && (number as number) > 0) {
    const isIssue = pull === undefined && fieldsOf(issue)['pull_request'] === undefined;
    const mentions = mentionsIn(fieldsOf(comment)['body']);
    return { kind: 'thread', thread: { repository: name, number: number as number, isIssue, mentions } };
  }
  const { repositories, repositories_added: added, repositories_removed: removed } = rest;
  const all = [[repository], repositories, added, removed].flatMap(listOf);
  const named = all.flatMap(namedIn).slice(0, MOST_REPOSITORIES);
  return installation === undefined || named.length === 0
    ? { kind: 'other' }
    : { kind: 'installation', repositories: named };
}

function namedIn(repository: unknown): readonly NamedRepository[] {
  const { id } = fieldsOf(repository);
  const name = nameOf(repository);
  return name === null ? [] : [{ ...name, id: Number.isSafeInteger(id) ? (id as number) : null }];
}

/** Reads a name; null for a private repository, in which the service writes nothing. */
function nameOf(repository: unknown): RepositoryName | null {
  const { full_name: full, private: isPrivate } = fieldsOf(repository);
  if (typeof full !== 'string' || isPrivate === true) return null;
  const [owner = '', name = '', ...more] = full.split('/');
  return more.length > 0 ? null : parseRepositoryName(owner, name);
}

function mentionsIn(text: unknown): readonly string[] {
  if (typeof text !== 'string') return [];
  const found = text.slice(0, LONGEST_TEXT).match(MENTION) ?? [];
  return [...new Set(found.map((mention) => mention.slice(1).toLowerCase()))].slice(0, MOST_MENTIONS);
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
