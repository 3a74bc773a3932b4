/**
 * The verdict on a push: what it is (Git), what the place says (the host's interface); and its
 * preview.
 * Proved by test/push/judge/judge.test.ts.
 */
import type { AnonymousCommits, DateOf } from '../git/objects/anonymize.ts';
import type { Oid } from '../git/objects/oid.ts';
import type { PlannedCommits, PlannedText } from '../git/objects/planned-commits.ts';
import type { Ref } from '../git/wire/ref-advertisement.ts';
import type { HostPullRequest, Repository } from '../host/code-host.ts';
import type { Limit } from '../limits/sliding-window.ts';
import { fullName } from '../words/repository-name.ts';
import { textOf, wholeText } from '../text/pull-request-text.ts';
import type { Stated } from './receive/push-options.ts';
import { type Preview, Refusal } from './reply/refusal.ts';

/**
 * What a push is, as Git tells it, without name, date or original id: it can be stored
 * (delay/kept-push.ts).
 */
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
  /**
   * Whether the person affirms the Developer Certificate of Origin: the messages say so already.
   */
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
  readonly pullRequest: HostPullRequest;
  /** Where its commits end, the zero id if its branch is not there; null: its fork is gone. */
  readonly tip: Oid | null;
}

/**
 * Whether an open pull request is updated. One whose fork was deleted never changes any more, even
 * if it is open.
 */
export function isUpdate(push: { readonly named: Omit<NamedPullRequest, 'tip'> | null }): boolean {
  const { isOpen, source } = push.named?.pullRequest ?? {};
  return isOpen === true && source !== null;
}

/**
 * Bytes of messages that a preview shows, in which each commit's line counts as some. More are
 * counted.
 */
const MOST_SHOWN = 128 * 1024;
const LINE_BYTES = 64;
const SHOW = 'git log -p HEAD --not --remotes';

/** What a preview shows besides the push itself. */
interface Previewed extends Pick<Preview, 'author' | 'remarks' | 'refusal'> {
  readonly dateOf: DateOf;
  /** As `updatedCommits` says it. */
  readonly updated: string | null;
  /** Of the pack as it would be sent. */
  readonly bytes: number;
}

/** `-o preview`: what a push would publish. */
export function previewed(push: Publishable, anonymous: AnonymousCommits, shown: Previewed): Refusal {
  const { author, remarks, refusal, dateOf, updated, bytes } = shown;
  const { title, body } = wholeText(push, anonymous);
  const objects = anonymous.objectCount + push.entryCount;
  const { length } = push.commits;
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
    ...indented(body),
    '',
    `Its ${length === 1 ? 'commit' : `${length} commits`}, by ${author}:`,
    ...messageLines(push.commits, anonymous, dateOf),
    '',
    ...(updated === null ? [] : [`${updated === '' ? 'Nothing new' : updated}.`]),
    `${objects === 1 ? '1 object' : `${objects} objects`}, ${bytes} bytes, would be sent. Files are not shown: ${SHOW}`,
    ...remarks,
  ];
  const preview = { author, title, body, remarks, refusal };
  return new Refusal('preview', 'preview: nothing was published', lines, { preview });
}

function indented(text: string): string[] {
  return text === '' ? [] : text.split(/\r?\n/).map((line) => `    ${line}`);
}

/** Every message, as it would be published; the size of those that do not fit. */
function messageLines(commits: PlannedCommits, anonymous: AnonymousCommits, dateOf: DateOf): string[] {
  const lines: string[] = [];
  let [left, count, bytes] = [MOST_SHOWN, 0, 0];
  for (let number = 0; number < commits.length; number++) {
    const commit = commits.at(number);
    const size = commit.message.bytes.byteLength;
    if (size + LINE_BYTES > left) {
      count += 1;
      bytes += size;
      continue;
    }
    left -= size + LINE_BYTES;
    const date = new Date(dateOf(number) * 1000).toISOString().slice(0, 19).replace('T', ' ');
    const { title, body } = textOf(commit, anonymous);
    lines.push(`  ${anonymous.idOf(number).slice(0, 10)}  ${date} UTC  ${title}`, ...indented(body));
  }
  const messages = count === 1 ? '1 message' : `${count} messages`;
  return count === 0 ? lines : [...lines, `  ${messages}, ${bytes} bytes, not shown: ${SHOW}`];
}
