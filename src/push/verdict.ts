/** The verdict on a push: what it is (Git), what the place says (the host's interface); its text, dates and preview. */
import { COMMIT_HASH_BYTES, type DatedCommits } from '../durable/pull-request/record.ts';
import { AnonymousCommits, type DateOf } from '../git/objects/anonymize.ts';
import type { Identity } from '../git/objects/commit.ts';
import {
  cut,
  MAX_BODY_LENGTH,
  type PullRequestText,
  pullRequestText,
} from '../git/objects/commit-message.ts';
import { type Oid, ZERO_OID } from '../git/objects/oid.ts';
import {
  type PlannedCommit,
  type PlannedCommits,
  type PlannedText,
  withIds,
} from '../git/objects/planned-commits.ts';
import type { Ref } from '../git/wire/ref-advertisement.ts';
import type { PullRequest, Repository } from '../host/code-host.ts';
import type { Limit } from '../limits/sliding-window.ts';
import { fullName } from '../repository-name.ts';
import { footerProblem } from '../text/footer-room.ts';
import { readMarkdown } from '../text/markdown.ts';
import type { Stated } from './receive/push-options.ts';
import { type Preview, Refusal } from './reply/refusal.ts';

/** What a push is, as Git tells it, without name, date or original id: it can be stored (delay/kept-push.ts). */
export interface PushedWork {
  readonly base: Ref;
  /** Whether the person named it. If not, an open pull request keeps its own. */
  readonly isBaseNamed: boolean;
  /** The pull request that the person named; null: a new one is opened, under a new hash. */
  readonly prHash: string | null;
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
  readonly boundary: readonly Oid[];
  /** Entries of the pack besides the commits; their bytes are in the spool. */
  readonly entryCount: number;
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

export type Publishable = PushedWork & OpenPlace;

export interface NamedPullRequest {
  readonly prHash: string;
  readonly pullRequest: PullRequest;
  /** Where its commits end, the zero id if its branch is not there; null: its fork is gone. */
  readonly tip: Oid | null;
}

/** Whether an open pull request is updated. One whose fork was deleted never changes any more, even if it is open. */
export function isUpdate(push: { readonly named: Omit<NamedPullRequest, 'tip'> | null }): boolean {
  const { isOpen, source } = push.named?.pullRequest ?? {};
  return isOpen === true && source !== null;
}

export type Worded = Pick<Publishable, 'title' | 'description' | 'commits' | 'footer'>;
/** How the commits of the push are called once they are anonymous. */
type Ids = Pick<AnonymousCommits, 'idOf'>;

/** Not known yet: they follow from when it is published. Then a text that names one has zeros there. */
export const UNKNOWN_IDS: Ids = { idOf: () => ZERO_OID };

/** What a push says of itself, for the end of the description, where maintainers can search for it. */
export function statedText({ ai, issue }: Stated): string {
  const lines = [ai === null ? '' : `AI disclosure: ${ai}`, issue === null ? '' : `Refs #${issue}`];
  const said = lines.filter(Boolean).join('\n');
  return said === '' ? '' : `\n\n${said}`;
}

/** The text that the options name, with new ids in place of original ones; null: an open pull request keeps its own. */
export function namedText(
  { title, description, footer }: Omit<Worded, 'commits'>,
  { idOf }: Ids,
): { readonly title: string | null; readonly body: string | null } {
  const text = (planned: PlannedText | null) => planned && Buffer.from(withIds(planned, idOf)).toString();
  const body = text(description);
  return { title: text(title), body: body === null ? null : withFooter(body, footer) };
}

/** The text of a new pull request. */
export function wholeText(push: Worded, ids: Ids): PullRequestText {
  const named = namedText(push, ids);
  const newest = textOf(newestOf(push.commits), ids);
  return { title: named.title ?? newest.title, body: named.body ?? withFooter(newest.body, push.footer) };
}

function textOf({ encoding, message }: PlannedCommit, { idOf }: Ids): PullRequestText {
  return pullRequestText({ encoding, message: withIds(message, idOf) });
}

/** The commit whose message a new pull request shows. */
export function newestOf(commits: PlannedCommits): PlannedCommit {
  return commits.at(newestWork(commits.length, (place) => commits.at(place).parents.length > 1));
}

/** The place of the newest commit that is not a merge, whose message would name branches; of the last if all are. */
export function newestWork(count: number, isMerge: (place: number) => boolean): number {
  let place = count - 1;
  while (place > 0 && isMerge(place)) place--;
  return isMerge(place) ? count - 1 : place;
}

/** A fence or a comment that is left open would swallow the footer behind it, so then it stands in front. */
function withFooter(body: string, footer: string): string {
  if (body === '') return footer.trimStart();
  if (footer === '') return cut(body, MAX_BODY_LENGTH);
  const text = cut(body, MAX_BODY_LENGTH - footer.length - 2);
  const isSafe = footerProblem(readMarkdown(text)) === null;
  return isSafe ? `${text}${footer}` : `${footer.trimStart()}\n\n${text}`;
}

/** How much of the undated id a commit is recognised by. */
const HASH_HEX_LENGTH = 2 * COMMIT_HASH_BYTES;

/**
 * Which date each commit gets. One rewritten before for this pull request keeps its date, and over the same parents its
 * id: reviewers see only what is new. It is recognised by its id with all new commits dated 1970. By its original id, a
 * hash over name and dates, anyone with the pr_hash could push many guesses and see which one keeps its date.
 */
export interface Dates {
  readonly dateOf: DateOf;
  /** The commits that get their date now. */
  readonly added: () => DatedCommits;
}

/** The commits as if all were dated 1970: the same for the same work. Made when they are first asked for. */
type Undated = () => AnonymousCommits;

export function undatedOf(commits: PlannedCommits, identity: Identity): Undated {
  let made: AnonymousCommits | null = null;
  return () => (made ??= new AnonymousCommits(commits, identity, () => 0));
}

/** Cost: a SHA-1 over all commits, if dates are known or asked. @param committedAt of the others, since 1970. */
export function datesOf(undated: Undated, known: readonly DatedCommits[], committedAt: number): Dates {
  const hashOf = (commit: number): string => undated().idOf(commit).slice(0, HASH_HEX_LENGTH);
  const dates = new Map<string, number>();
  // The earliest date of each comes last, because it was published with that one.
  for (const { committedAt: date, commitHashes } of known.toReversed()) {
    const hex = Buffer.from(commitHashes).toString('hex');
    for (let at = 0; at < hex.length; at += HASH_HEX_LENGTH)
      dates.set(hex.slice(at, at + HASH_HEX_LENGTH), date);
  }
  return {
    dateOf: dates.size === 0 ? () => committedAt : (commit) => dates.get(hashOf(commit)) ?? committedAt,
    added: () => {
      const hashes = new Set(Array.from({ length: undated().size }, (_, commit) => hashOf(commit)));
      const added = [...hashes].filter((hash) => !dates.has(hash));
      return { committedAt, commitHashes: new Uint8Array(Buffer.from(added.join(''), 'hex')) };
    },
  };
}

/** More are counted, not shown. */
const MAX_COMMITS_SHOWN = 50;
const MAX_BODY_LINES_SHOWN = 20;

/** What a preview shows besides the push itself. */
interface Previewed extends Pick<Preview, 'author' | 'remarks' | 'refusal'> {
  readonly dateOf: DateOf;
  /** Of the pack as it would be sent. */
  readonly bytes: number;
}

/** `-o preview`: what a push would publish. */
export function previewed(push: Publishable, anonymous: AnonymousCommits, shown: Previewed): Refusal {
  const { author, remarks, refusal, dateOf, bytes } = shown;
  const { title, body } = wholeText(push, anonymous);
  const bodyLines = body.split('\n').map((line) => `    ${line}`);
  const objects = anonymous.size + push.entryCount;
  const { length } = push.commits;
  const commitLine = (number: number): string => {
    const date = new Date(dateOf(number) * 1000).toISOString().slice(0, 19).replace('T', ' ');
    const words = textOf(push.commits.at(number), anonymous).title;
    return `  ${anonymous.idOf(number).slice(0, 10)}  ${date} UTC  ${words}`;
  };
  const hidden = bodyLines.length - MAX_BODY_LINES_SHOWN;
  const lines = [
    ...(refusal === null
      ? []
      : [`This push would be refused: ${refusal}. With -o publish-names, this would become public:`]),
    isUpdate(push)
      ? `This push would update the pull request ${push.named?.pullRequest.url ?? ''}:`
      : `This push would open a pull request${push.isDraft ? ' as a draft' : ''}:`,
    '',
    `  Repository:  ${fullName(push.repository)}`,
    `  Base:        ${push.base.name.slice('refs/heads/'.length)}`,
    `  Title:       ${title}`,
    `  Description:${body === '' ? ' (none)' : ''}`,
    ...(body === '' ? [] : bodyLines.slice(0, MAX_BODY_LINES_SHOWN)),
    ...(hidden > 0 ? [`    and ${hidden} more lines`] : []),
    '',
    `Its ${length === 1 ? 'commit' : `${length} commits`}, by ${author}:`,
    ...Array.from({ length: Math.min(length, MAX_COMMITS_SHOWN) }, (_, number) => commitLine(number)),
    ...(length > MAX_COMMITS_SHOWN ? [`  and ${length - MAX_COMMITS_SHOWN} more`] : []),
    '',
    `${objects === 1 ? '1 object' : `${objects} objects`}, ${bytes} bytes, would be sent.`,
    ...remarks,
  ];
  const preview = { author, title, body, remarks, refusal };
  return new Refusal('preview', 'preview: nothing was published', lines, { preview });
}
