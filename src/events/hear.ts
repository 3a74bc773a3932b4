/**
 * Hears the words of maintainers in the comments and reviews of a thread, and acts on them. Each
 * counts once, and not if it was edited. Words are kept by the repository's number at the host,
 * because names are given to others. The newest word wins, whatever the order in which threads are
 * read.
 */
import type { Account, Remark, Repository, Role } from '../host/code-host.ts';
import type { MaintainerHost } from '../host/open.ts';
import type { RepositoryName } from '../words/repository-name.ts';
import { CallsUsedUp, WordsUsedUp } from './follow.ts';
import { isOwn, type OwnAccounts } from './host-event.ts';
import { type MaintainerWord, maySay, wordsIn } from './maintainer-words.ts';

/** The last word on a repository, or on one of its threads. */
export interface Stance {
  readonly word: 'stop' | 'mute' | 'welcome';
  /** The comment's time; milliseconds since 1970. */
  readonly at: number;
  /** The number of the account that may take it back, besides the owner: the first to say it. */
  readonly saidBy: number;
  /** When that account first said it. Repeating it moves only `at`. */
  readonly since: number;
}

/** The words of maintainers that stand in a repository. */
export interface SaidWords {
  /** When they have said stop; null: they have not. Milliseconds since 1970. */
  readonly stoppedAt: number | null;
  /** The muted threads, and since when. */
  readonly muted: readonly { readonly thread: number; readonly at: number }[];
  /** Whether some word stands in a repository, so that a name alone may be another's. */
  readonly isAny: boolean;
}

/** The number in place of a thread's for the whole repository. */
export const WHOLE = 0;

export interface StanceMemory {
  /** @param key of the remark. */
  wasHeard(key: string): boolean;
  heard(key: string, at: number): void;
  /** @param thread the number of an issue or a pull request, or `WHOLE`. */
  stance(repositoryId: number, thread: number): Stance | null;
  setStance(repository: Repository, thread: number, stance: Stance): void;
}

export interface Listener {
  readonly host: Pick<MaintainerHost, 'repository' | 'isStranger' | 'standing' | 'acknowledge'>;
  readonly memory: StanceMemory;
  /** The accounts in whose names the service writes. */
  readonly own: readonly Account[];
  now(): number;
  /** Closes what the service has opened there. Rejects if something is left open. */
  closeAll(repository: Repository): Promise<void>;
  /**
   * Learns that a repository is stopped that was not before.
   * @param at the time of the comment; milliseconds since 1970.
   */
  stopped(repository: Repository, at: number): void;
}

type OthersComment = Remark & Required<Pick<Remark, 'comment'>> & { readonly authorId: number };

interface Place {
  readonly thread: number;
  readonly repository: () => Promise<Repository>;
}

interface SaidComment {
  readonly remark: OthersComment;
  readonly words: readonly MaintainerWord[];
}

/** How long closing is tried again after it failed, so that its comment does not fail for ever. */
const CLOSING_TRIED_FOR_MS = 24 * 60 * 60 * 1000;

/**
 * Hears what is new, closing last. If it rejects, the comments at which it did so are not heard
 * yet; the others are.
 */
export async function hear(
  listener: Listener,
  name: RepositoryName,
  thread: number,
  remarks: readonly Remark[],
): Promise<void> {
  const { host, memory } = listener;
  let found: Promise<Repository> | null = null;
  const place: Place = { thread, repository: () => (found ??= host.repository(name)) };
  const failures: unknown[] = [];
  const said = await newWords(listener, name, remarks);
  const counted = lastOfEach(said);
  for (const one of closingLast(said)) {
    try {
      const { comment, key, at } = one.remark;
      const standing = counted.has(one) ? await host.standing(name, comment.by) : 'none';
      if (standing !== 'none') await obey(listener, place, one, standing);
      memory.heard(key, Date.parse(at));
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

/** Finds the last comments in which each person says each word: repeating them costs no calls. */
function lastOfEach(said: readonly SaidComment[]): ReadonlySet<SaidComment> {
  const of = ({ remark, words }: SaidComment) => words.map((word) => `${remark.authorId} ${word}`);
  return new Set(new Map(said.flatMap((one) => of(one).map((key) => [key, one] as const))).values());
}

function closingLast(said: readonly SaidComment[]): readonly SaidComment[] {
  const closes = ({ words }: SaidComment) => Number(words.includes('close all'));
  return said.toSorted((a, b) => closes(a) - closes(b));
}

/**
 * Finds comments with words that were not heard yet, the oldest first. A host that names strangers
 * as such makes them cost nothing: neither a call, nor a parsed text, nor a row.
 */
async function newWords(
  { own, host, memory }: Listener,
  name: RepositoryName,
  remarks: readonly Remark[],
): Promise<readonly SaidComment[]> {
  const said: SaidComment[] = [];
  const ids = new Set(own.map(({ id }) => id));
  for (const remark of remarks) {
    const isDated = !Number.isNaN(Date.parse(remark.at));
    if (!isDated || !isOthers(remark, ids) || remark.comment.isEdited) continue;
    if (await host.isStranger(name, remark.comment.by)) continue;
    const words = wordsIn(remark.text, own);
    if (words.length > 0 && !memory.wasHeard(remark.key)) said.push({ remark, words });
  }
  // Within a second, the numbers tell the order of comments.
  return said.toSorted(
    ({ remark: a }, { remark: b }) => Date.parse(a.at) - Date.parse(b.at) || a.comment.id - b.comment.id,
  );
}

/** Answers whether somebody else has commented. What the bot posts for others says nothing. */
function isOthers(remark: Remark, own: OwnAccounts): remark is OthersComment {
  const { comment, authorId } = remark;
  return comment !== undefined && authorId !== null && !isOwn(authorId, own);
}

async function obey(
  listener: Listener,
  { thread, repository: lookUp }: Place,
  { remark: { comment, authorId: saidBy, at }, words }: SaidComment,
  standing: Role,
): Promise<void> {
  const { host, memory } = listener;
  const repository = await lookUp();
  const time = Date.parse(at);
  let isObeyed = false;
  for (const word of words) {
    for (const where of placesOf(word, thread)) {
      const before = memory.stance(repository.id, where);
      const closedBy = before === null || before.word === 'welcome' ? null : before.saidBy;
      const isEarlier = word !== 'close all' || (before?.since ?? time) < time;
      if (!maySay(word, standing, closedBy === saidBy && isEarlier)) continue;
      // Who repeats what another has said must not get the right to take it back.
      const keeper = (word === 'welcome' || standing === 'owner' ? saidBy : closedBy) ?? saidBy;
      const since = before !== null && keeper === closedBy ? Math.min(before.since, time) : time;
      if (word === 'close all') {
        if (!(await isClosed(listener, repository, time))) return;
      } else if (before !== null && before.at > time) continue;
      else memory.setStance(repository, where, { word, at: time, saidBy: keeper, since });
      if (word === 'stop' && closedBy === null) listener.stopped(repository, time);
      isObeyed = true;
    }
  }
  if (isObeyed) await host.acknowledge(repository, thread, comment);
}

/**
 * Closes what is open. Answers false if that failed for too long.
 * @param saidAt milliseconds since 1970.
 */
async function isClosed(listener: Listener, repository: Repository, saidAt: number): Promise<boolean> {
  try {
    await listener.closeAll(repository);
    return true;
  } catch (error) {
    const isOurs = error instanceof WordsUsedUp || error instanceof CallsUsedUp;
    if (isOurs || listener.now() - saidAt < CLOSING_TRIED_FOR_MS) throw error;
    return false;
  }
}

/** Lists what a word is about: threads, or the repository. */
function placesOf(word: MaintainerWord, thread: number): readonly number[] {
  if (word === 'mute') return [thread];
  return word === 'welcome' ? [WHOLE, thread] : [WHOLE];
}
