/**
 * `-o preview`: shows what a push would publish, and all that judging has found.
 */
import { AnonymousCommits, type DateOf } from '../git/objects/anonymize.ts';
import type { PlannedCommits } from '../git/objects/planned-commits.ts';
import { outgoingBytes } from '../git/pack/outgoing-pack.ts';
import { branchName } from '../git/wire/ref-advertisement.ts';
import { pushedText, textOf } from '../text/pull-request-text.ts';
import { changesText } from '../text/commit-changes.ts';
import { linesOf } from '../words/finding.ts';
import { fullName } from '../words/repository-name.ts';
import { refusalOf } from './judge/findings.ts';
import type { Judged } from './judge/judge.ts';
import { datesNow } from './judge/work.ts';
import type { PushRun } from './push-run.ts';
import type { ReceivedPack } from './receive/receive.ts';
import { type Preview, Refusal } from './reply/refusal.ts';
import { isUpdate, type Publishable } from './verdict.ts';

/**
 * Bytes of messages that a preview shows, in which each commit's line counts as some. More are
 * counted.
 */
const MOST_SHOWN = 128 * 1024;
const LINE_BYTES = 64;
/** Commits that a page lists by their titles. */
const MOST_LISTED = 100;
/** Findings to read below the texts: where names are in them, and what was searched. */
const BEHIND_TEXTS: ReadonlySet<string> = new Set(['names', 'trails', 'searched']);
const SHOW = 'git log -p HEAD --not --remotes';
const KEPT = '(stays as it is)';

/** Facts that a preview shows besides the push itself. */
interface Previewed extends Pick<Preview, 'author' | 'remarks' | 'refusal' | 'yes' | 'findings'> {
  /** Condition on which a refused push would pass; by default, an option. */
  readonly passes?: string;
  readonly dateOf: DateOf;
  readonly updated: Judged['updated'];
  /** The size of the pack as it would be sent. */
  readonly bytes: number;
}

/**
 * Answers what would become public, or why the push is refused.
 * @param yes the codes of the warnings for which it would wait.
 * @param full why the client's limits would refuse the push now; null: they would not.
 */
export async function previewOf(
  run: PushRun,
  { spool }: Pick<ReceivedPack, 'spool'>,
  push: Publishable,
  { claim, updated, findings, yes }: Pick<Judged, 'claim' | 'updated' | 'findings'> & Pick<Preview, 'yes'>,
  full: Refusal | null,
): Promise<Refusal> {
  const { host, settings, reply } = run;
  const bot = { name: await host.botLogin(), email: settings.anonEmail };
  const dateOf = datesNow(push.commits, bot, claim, Math.floor(host.clock.now() / 1000));
  const { signingKey } = settings;
  const leaving = await AnonymousCommits.make(push.commits, bot, dateOf, signingKey, host.memory);
  const bytes = outgoingBytes(leaving.entryBytes, spool.byteLength);
  const facts = { author: bot.name, dateOf, bytes, updated, findings };
  const refusal = refusalOf(findings);
  // With -o publish-names, it would be published.
  const isPublishable = refusal?.all.every(({ code }) => code === 'names' || code === 'trails') ?? true;
  if (refusal !== null && !isPublishable) {
    const shown = { ...facts, refusal: refusal.reason, passes: 'Once that is mended', remarks: [], yes: [] };
    await reply.note(...previewed(push, leaving, shown).lines);
    return refusal;
  }
  const { before = [], behind = [] } = Object.groupBy(findings, ({ code }) =>
    BEHIND_TEXTS.has(code) ? 'behind' : 'before',
  );
  await reply.note(...linesOf(before));
  const remarks = [
    ...linesOf(behind),
    ...(full === null ? [] : [`This push would be REFUSED now: ${full.reason}. ${full.lines.at(-1)}`]),
  ];
  return previewed(push, leaving, { ...facts, refusal: refusal?.reason ?? null, remarks, yes });
}

/** Shows all that a push would publish. */
export function previewed(push: Publishable, anonymous: AnonymousCommits, shown: Previewed): Refusal {
  const {
    author,
    remarks,
    refusal,
    yes,
    findings,
    passes = 'With -o publish-names',
    dateOf,
    updated,
    bytes,
  } = shown;
  const { title, body } = pushedText(push, anonymous, isUpdate(push));
  const objects = anonymous.objectCount + push.entryCount;
  const { length } = push.commits;
  const opened = push.isDraft ? 'a pull request as a draft' : 'a pull request';
  const which = isUpdate(push) ? `the pull request ${push.named?.pullRequest.url ?? ''}` : opened;
  const lines = [
    ...(refusal === null ? [] : [`This push would be REFUSED: ${refusal} (below).`]),
    `${refusal === null ? 'This push' : `${passes}, it`} would ${isUpdate(push) ? 'update' : 'open'} ${which}:`,
    '',
    `  Repository:  ${fullName(push.repository)}`,
    `  Base:        ${branchName(push.base)}`,
    `  Title:       ${title ?? KEPT}`,
    `  Description:${body === '' ? ' (none)' : body === null ? ` ${KEPT}` : ''}`,
    ...indented(body ?? ''),
    '',
    `Its ${length === 1 ? 'commit' : `${length} commits`}, by ${author}:`,
    ...messageLines(push.commits, anonymous, dateOf, body),
    '',
    ...(updated === null ? [] : [`${changesText(updated) || 'Nothing new'}.`]),
    `${objects === 1 ? '1 object' : `${objects} objects`}, ${bytes} bytes, would be sent. Files are not shown: ${SHOW}`,
    ...remarks,
  ];
  const commits = titlesOf(push.commits, anonymous);
  const preview = { author, title, body, remarks, refusal, yes, findings, push, commits };
  return new Refusal('preview', 'preview: nothing was published', lines, { preview });
}

/** The commits, newest last, as far as a page lists them. */
function titlesOf(commits: PlannedCommits, anonymous: AnonymousCommits): Preview['commits'] {
  return Array.from({ length: Math.min(commits.length, MOST_LISTED) }, (_, number) => {
    const { title } = textOf(commits.at(number), anonymous);
    return { oid: anonymous.idOf(number), title };
  });
}

function indented(text: string): string[] {
  return text === '' ? [] : text.split(/\r?\n/).map((line) => `    ${line}`);
}

/**
 * Every message, as it would be published; the size of those that do not fit.
 * @param shown the description, which need not be shown twice.
 */
function messageLines(
  commits: PlannedCommits,
  anonymous: AnonymousCommits,
  dateOf: DateOf,
  shown: string | null,
): string[] {
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
    const text = body !== '' && body === shown ? '(the description above)' : body;
    lines.push(`  ${anonymous.idOf(number).slice(0, 10)}  ${date} UTC  ${title}`, ...indented(text));
  }
  const messages = count === 1 ? '1 message' : `${count} messages`;
  return count === 0 ? lines : [...lines, `  ${messages}, ${bytes} bytes, not shown: ${SHOW}`];
}
