/**
 * What comes of judging a push, in two halves: what it is (Git), and what the place says (the host's interface). And what
 * follows from it: the text of the pull request, which is that of the options or else of the newest commit, and dates.
 */
import { COMMIT_HASH_BYTES, type DatedCommits } from '../../durable/pull-request/record.ts';
import { AnonymousCommits, type DateOf } from '../../git/objects/anonymize.ts';
import type { Identity } from '../../git/objects/commit.ts';
import {
  cut,
  MAX_BODY_LENGTH,
  type PullRequestText,
  pullRequestText,
} from '../../git/objects/commit-message.ts';
import type { Oid } from '../../git/objects/oid.ts';
import {
  type PlannedCommit,
  type PlannedCommits,
  type PlannedText,
  withIds,
} from '../../git/objects/planned-commits.ts';
import type { Ref } from '../../git/wire/ref-advertisement.ts';
import type { PullRequest, Repository } from '../../host/code-host.ts';
import type { Limit } from '../../limits/sliding-window.ts';
import { footerProblem } from '../../text/footer-room.ts';
import { readMarkdown } from '../../text/markdown.ts';
import type { Stated } from '../receive/push-options.ts';

/**
 * What a push is, as Git alone tells it. It is data: it can be stored, and published by another isolate later
 * (delay/kept-push.ts). It never holds a name, a date or an original id of the person.
 */
export interface PushedWork {
  /** The branch that the pull request is for. */
  readonly base: Ref;
  /** Whether the person named it. If not, an open pull request keeps its own. */
  readonly isBaseNamed: boolean;
  /** The pull request that the person named; null: a new one is opened, under a new hash. */
  readonly prHash: string | null;
  /** Whether the person has shown its key. */
  readonly hasKey: boolean;
  /** In place of what the newest commit says; null: that is taken. */
  readonly title: PlannedText | null;
  readonly description: PlannedText | null;
  /** Of a new pull request; an open one stays what it is. */
  readonly isDraft: boolean;
  /** Whether the person affirms the Developer Certificate of Origin: the messages say so already. */
  readonly isSignedOff: boolean;
  readonly stated: Stated;
  readonly commits: PlannedCommits;
  /** Upstream's branches that a fork must have, where upstream has them. */
  readonly upstream: readonly Ref[];
  /** The upstream commits that the new ones stand on. */
  readonly ground: readonly Oid[];
  /** Entries of the pack besides the commits; their bytes are in the spool. */
  readonly entryCount: number;
  /** Objects outside the pack that its deltas name. */
  readonly namedBases: readonly Oid[];
}

/** What the place says that a push goes to: it takes pull requests, and ours. */
export interface OpenPlace {
  readonly repository: Repository;
  /** What the pull request's text ends with; may be empty. */
  readonly footer: string;
  /** How much the repository takes, besides the operator's limit. */
  readonly policyLimits: readonly Limit[];
  /** The pull request that the push names; null: it names none, or one that nobody knows. */
  readonly named: NamedPullRequest | null;
}

/** A push that was judged whole. */
export type Publishable = PushedWork & OpenPlace;

export interface NamedPullRequest {
  readonly prHash: string;
  readonly pullRequest: PullRequest;
  /** Where its commits end, the zero id if its branch is not there; null: its fork is gone. */
  readonly tip: Oid | null;
}

/** Whether an open pull request is updated. One whose fork was deleted never changes any more, even if it is open. */
export function isUpdate({
  named,
}: {
  readonly named: Pick<NamedPullRequest, 'pullRequest'> | null;
}): boolean {
  return named?.pullRequest.isOpen === true && named.pullRequest.source !== null;
}

/** What the text of a pull request follows from. */
export type Worded = Pick<PushedWork, 'title' | 'description' | 'commits'> & Pick<OpenPlace, 'footer'>;

/** What a push says of itself, for the end of the description, where maintainers can search for it. */
export function statedText({ ai, issue }: Stated): string {
  const lines = [
    ...(ai === null ? [] : [`AI disclosure: ${ai}`]),
    ...(issue === null ? [] : [`Refs #${issue}`]),
  ];
  return lines.length === 0 ? '' : `\n\n${lines.join('\n')}`;
}

/** The text that the options name, with new ids in place of original ones; null: an open pull request keeps its own. */
export function namedText(
  { title, description, footer }: Omit<Worded, 'commits'>,
  { idOf }: Pick<AnonymousCommits, 'idOf'>,
): { readonly title: string | null; readonly body: string | null } {
  const text = (planned: PlannedText): string => Buffer.from(withIds(planned, idOf)).toString();
  return {
    title: title === null ? null : text(title),
    body: description === null ? null : withFooter(text(description), footer),
  };
}

/** The text of a new pull request. */
export function wholeText(push: Worded, anonymous: Pick<AnonymousCommits, 'idOf'>): PullRequestText {
  const named = namedText(push, anonymous);
  const { encoding, message } = newestOf(push.commits);
  const newest = pullRequestText({ encoding, message: withIds(message, anonymous.idOf) });
  return { title: named.title ?? newest.title, body: named.body ?? withFooter(newest.body, push.footer) };
}

/** The commit whose message a new pull request shows. */
export function newestOf(commits: PlannedCommits): PlannedCommit {
  return commits.at(newestWork(commits.length, (place) => commits.at(place).parents.length > 1));
}

/** The place of the newest commit that is not a merge, whose message would name branches; of the last one if all are. */
export function newestWork(count: number, isMerge: (place: number) => boolean): number {
  let place = count - 1;
  while (place > 0 && isMerge(place)) place--;
  return isMerge(place) ? count - 1 : place;
}

/** A fence or a comment that is left open would swallow the footer behind it, so then it stands in front. */
function withFooter(body: string, footer: string): string {
  if (body === '' || footer === '') return body === '' ? footer.trimStart() : cut(body, MAX_BODY_LENGTH);
  const text = cut(body, MAX_BODY_LENGTH - footer.length - 2);
  const isSafe = footerProblem(readMarkdown(text)) === null;
  return isSafe ? `${text}${footer}` : `${footer.trimStart()}\n\n${text}`;
}

/** How much of the undated id a commit is recognised by. */
const HASH_HEX_LENGTH = 2 * COMMIT_HASH_BYTES;

/**
 * Which date each commit gets.
 *
 * A commit that was already rewritten for this pull request keeps the date it got then. If its parents are the same, it
 * also keeps its id, so reviewers see only what is new. The commit is recognised by the id that it would have if all new
 * commits were dated 1970, and not by its original id: that is a hash over name and dates, so anyone who knows the
 * pr_hash could push many guesses at once and see which one keeps its date.
 */
export interface Dates {
  readonly dateOf: DateOf;
  /** The commits that get their date now. */
  readonly added: () => DatedCommits;
}

/** The commits as if all were dated 1970: the same for the same work. Made when they are first asked for. */
export type Undated = () => AnonymousCommits;

export function undatedOf(commits: PlannedCommits, identity: Identity): Undated {
  let made: AnonymousCommits | null = null;
  return () => (made ??= new AnonymousCommits(commits, identity, () => 0));
}

/** @param committedAt seconds since 1970: the date of all commits that have none yet. Cost: a SHA-1 over all commits, if dates are known or asked for. */
export function datesOf(undated: Undated, known: readonly DatedCommits[], committedAt: number): Dates {
  const hashOf = (commit: number): string => undated().idOf(commit).slice(0, HASH_HEX_LENGTH);
  const dates = datesByHash(known);
  return {
    dateOf: dates.size === 0 ? () => committedAt : (commit) => dates.get(hashOf(commit)) ?? committedAt,
    added: () => {
      const hashes = new Set(Array.from({ length: undated().size }, (_, commit) => hashOf(commit)));
      const added = [...hashes].filter((hash) => !dates.has(hash));
      return { committedAt, commitHashes: new Uint8Array(Buffer.from(added.join(''), 'hex')) };
    },
  };
}

/** The earliest date of each, because it was published with that one. */
function datesByHash(known: readonly DatedCommits[]): Map<string, number> {
  const dates = new Map<string, number>();
  for (const { committedAt, commitHashes } of known) {
    const hex = Buffer.from(commitHashes).toString('hex');
    for (let at = 0; at < hex.length; at += HASH_HEX_LENGTH) {
      const hash = hex.slice(at, at + HASH_HEX_LENGTH);
      if (!dates.has(hash)) dates.set(hash, committedAt);
    }
  }
  return dates;
}
