/**
 * One push to the host: commands, then the pack, written while it is produced.
 *
 * Each write is awaited, so the spool is read no faster than the host accepts data. A host that stops reading for too
 * long, or that answers before it has read everything, ends the upload.
 */
import { concatBytes } from '../../git/bytes.ts';
import type { Oid } from '../../git/objects/oid.ts';
import { encodeCommandList } from '../../git/wire/push-request.ts';
import type { GitTransport, PushReport } from '../../host/git/git-transport.ts';
import { type Failure, HostError } from '../../host-error.ts';
import { hostLines, hostText } from '../../host-text.ts';
import type { RepositoryName } from '../../repository-name.ts';
import { longestWriteMs } from '../../streams/timed-writer.ts';
import type { PushRun } from '../push-run.ts';
import { Refusal } from '../reply/refusal.ts';

/** From the last byte sent to the report. In this time the host checks every object. */
const REPORT_TIMEOUT_MS = 120_000;
/** The same for a small pack, which needs no time: then the host hangs, and somebody waits. */
const SHORT_REPORT_TIMEOUT_MS = 60_000;
const SHORT_BYTES = 1024 * 1024;
/** How long to wait for the host's reason after it has stopped reading. */
const EARLY_ANSWER_MS = 1_000;

export interface UploadTarget {
  readonly repository: RepositoryName;
  readonly refName: string;
  /** The service's own: never a client's. */
  readonly pushOptions?: readonly string[];
  readonly oldTip: Oid;
  readonly newTip: Oid;
}

/**
 * Sends a pack, and reads the host's report. @param pack its pieces.
 * @throws HostError; after `unreachable` it is unknown what happened.
 */
export async function upload(
  transport: GitTransport,
  { repository, refName, pushOptions, oldTip, newTip }: UploadTarget,
  pack: AsyncIterable<Uint8Array>,
  writeTimeoutMs: number,
): Promise<PushReport> {
  const { readable, writable } = new IdentityTransformStream();
  const writer = writable.getWriter();
  const report = transport.push(repository, readable, pushOptions === undefined ? 'push' : 'offer');
  // The next step reports a rejection. Without this, it would count as unhandled until then.
  report.catch(() => {});
  writer.closed.catch(() => {});
  // They leave with the first bytes of the pack.
  const commands = encodeCommandList({ oldId: oldTip, newId: newTip, refName }, pushOptions);
  let sentBytes = 0;
  try {
    for await (const piece of pack) {
      const bytes = sentBytes === 0 ? concatBytes([commands, piece]) : piece;
      await inTime(report, writer.write(bytes), longestWriteMs(writeTimeoutMs, sentBytes));
      sentBytes += bytes.byteLength;
    }
    await inTime(report, writer.close(), longestWriteMs(writeTimeoutMs, sentBytes));
    const isShort = sentBytes <= SHORT_BYTES;
    return await inTime(report, report, isShort ? SHORT_REPORT_TIMEOUT_MS : REPORT_TIMEOUT_MS);
  } catch (error) {
    // The host gets an incomplete pack, and discards it.
    await writer.abort().catch(() => {});
    throw error;
  }
}

/** Waits for one action, but no longer than the host's own failure or the time allowed. @throws HostError */
async function inTime<T>(report: Promise<PushReport>, action: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const slow = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new HostError('unreachable', 'The code host stopped reading.')),
      timeoutMs,
    );
  });
  const failed = report.then(() => new Promise<never>(() => {}));
  try {
    return await Promise.race([action, slow, failed]);
  } catch (error) {
    throw error instanceof HostError ? error : await earlyAnswer(report, error);
  } finally {
    clearTimeout(timer);
  }
}

/** A host that refuses a pack stops reading it, and sends an answer that says why. */
async function earlyAnswer(report: Promise<PushReport>, cause: unknown): Promise<HostError> {
  const brokenOff = new HostError('unreachable', 'The code host broke off the push.', cause);
  const answer = report.then(
    ({ unpackStatus }) => new HostError('refused', `The code host says: ${hostText(unpackStatus)}`, cause),
    (error: unknown) => (error instanceof HostError ? error : brokenOff),
  );
  return (await Promise.race([answer, scheduler.wait(EARLY_ANSWER_MS)])) ?? brokenOff;
}

export function tellSending({ reply }: Pick<PushRun, 'reply'>, count: number): Promise<void> {
  return reply.step(`Sending ${count === 1 ? '1 anonymous commit' : `${count} anonymous commits`} ...`);
}

export function overtaken(): Refusal {
  const lines = ['Nothing of this push was kept. Push again to put your commits on top.'];
  return new Refusal('overtaken', 'another push to this pull request came first', lines);
}

/*
 * Why receive-pack did not take the commits, as the person can use it. GitHub's own lines name ids of commits that the
 * person does not have, pages that only the bot may open, and commands that reach only the person's own repository.
 */

const MOST_FILES = 10;
/** As much of the host's lines is read. */
const MOST_CHARACTERS = 20_000;

/**
 * A fault of the host, or another push at the same moment: ship-studio/ship-studio#678, isaacs/github#1741. The hook is
 * Git's word for Gitea's own failure in opening a pull request (AGit flow).
 */
const MOMENTARY =
  /internal server error|^failure$|cannot lock ref|failed to (?:lock|update ref)|fail(?:ed)? to run proc-receive hook/i;
/** A token without that scope, which the operator must give it: oiooj in categraf#34. */
const WITHOUT_SCOPE = /without `workflow` scope/;
/** An object that only the bot has. */
const ID = /\b[\da-f]{40}\b/g;

const REWRITE = 'Take it out of every commit that has it ("git rebase -i"), then push again.';

interface KnownRefusal {
  readonly when: RegExp;
  readonly lines: (messages: string) => readonly string[];
}

const KNOWN: readonly KnownRefusal[] = [
  // GH013, push protection: palxiao/poster-design#140, Commando-X/vuln-bank#53.
  {
    when: /push cannot contain secrets/i,
    lines: (messages) => [
      'The code host takes no secrets, and found some in your commits:',
      ...files(messages, /^ *(?:—— (?<note>[^—]+) ——|path: (?<file>.+))/),
      REWRITE,
      'If the secret is real, revoke it: whoever has seen it can use it.',
    ],
  },
  // GH001: sanskrit-lexicon/COLOGNE#365, evalEmpire/gitpan#110.
  {
    when: /exceeds GitHub's file size limit/i,
    lines: (messages) => [
      'The code host does not take files of this size:',
      ...files(messages, /^(?:error: )?File (?<file>.+) is (?<note>\d{1,6}[.]\d\d [KMG]B); this exceeds/),
      REWRITE,
    ],
  },
  // GH008: git-lfs/git-lfs#3231, sinbad/lfs-folderstore#13.
  {
    when: /unknown Git LFS object/i,
    lines: () => [
      'Your commits name files that are kept in Git LFS, and the code host does not have them.',
      'This service cannot send them there. "git lfs ls-files" lists them.',
      'Leave them out of your commits, or commit them without LFS: "git lfs untrack", then "git add --renormalize".',
    ],
  },
];

/** Null: the host has accepted the push. */
export function refusedCommits({ unpackStatus, commandStatuses, ...told }: PushReport): Refusal | null {
  const messages = told.messages.slice(0, MOST_CHARACTERS);
  const [status] = commandStatuses;
  const ofBranch = status === undefined ? 'no answer for the branch' : status.reason;
  const reason = unpackStatus === 'ok' ? ofBranch : `unpack ${unpackStatus}`;
  if (reason === null) return null;
  const words = [reason, messages].join('\n');
  const known = KNOWN.find(({ when }) => when.test(words));
  const means: Partial<Failure> = MOMENTARY.test(reason)
    ? { lasts: 'moment', whose: 'theirs' }
    : { whose: WITHOUT_SCOPE.test(words) ? 'ours' : 'person' };
  const own = [
    `The code host says: ${hostText(reason)}`,
    // A page is for the bot.
    ...hostLines(
      messages.replaceAll(/^.*$/gm, (line) => (line.includes('://') ? '' : line.replace(ID, '…'))),
    ).map((line) => `  ${line}`),
    ...(means.lasts === 'moment' ? ['Push the same commits again later. The service continues there.'] : []),
  ];
  const cause = new HostError('refused', 'The code host refused the commits.', undefined, means);
  return new Refusal('push', 'the code host refused the commits', known?.lines(messages) ?? own, { cause });
}

/** Each file with what is said of it, which may stand before it. */
function files(messages: string, place: RegExp): string[] {
  let note = '';
  const found: string[] = [];
  for (const line of messages.split('\n')) {
    const { groups } = place.exec(line) ?? {};
    note = groups?.['note'] ?? note;
    if (groups?.['file'] !== undefined) found.push(`  ${hostText(groups['file'])} (${hostText(note)})`);
  }
  return [...new Set(found)].slice(0, MOST_FILES);
}
