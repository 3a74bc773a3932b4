/**
 * How an anonymous push becomes a pull request at a host. There are two ways, and the host's class says which one is its
 * own: from a branch of the bot's fork (`from-fork.ts`), or by one push to upstream (`agit.ts`). Here is what they share:
 * sending the commits, and what it means if the host does not take them.
 */
import { concatBytes } from '../../git/bytes.ts';
import type { AnonymousCommits } from '../../git/objects/anonymize.ts';
import { type Oid, ZERO_OID } from '../../git/objects/oid.ts';
import { encodeCommandList } from '../../git/wire/push-request.ts';
import type { PullRequest } from '../../host/code-host.ts';
import type { CodeHost } from '../../host/open.ts';
import type { GitTransport, PushReport } from '../../host/git/git-transport.ts';
import { type Failure, HostError } from '../../host-error.ts';
import { hostLines, hostText, oneLine } from '../../host-text.ts';
import { within } from '../../isolate/within.ts';
import type { RepositoryName } from '../../repository-name.ts';
import { TimedWriter } from '../../streams/timed-writer.ts';
import { othersCommits, othersWork } from '../judge/questions.ts';
import type { PushRun } from '../push-run.ts';
import { Refusal } from '../reply/refusal.ts';
import { namedText, type Publishable } from '../verdict.ts';

/** One attempt: what is sent, and what is known of attempts before it. */
export interface Proposal {
  readonly prHash: string;
  readonly botLogin: string;
  readonly anonymous: AnonymousCommits;
  /** Makes the pack again each time. */
  readonly pack: () => AsyncIterable<Uint8Array>;
  /** Where the pull request must be, unless its branch is gone or has these commits already; null: anywhere. */
  readonly onlyFrom: Oid | null;
  /** Before each step that makes something public. @throws Refusal if the push was ended */
  readonly mayGoOn: () => Promise<void>;
  /** Whether an earlier attempt was not answered. It may have stopped at any point. */
  readonly isRepeated: boolean;
  /** The pull request that it opened. */
  readonly earlier: PullRequest | null;
}

export abstract class Delivery<Host extends CodeHost = CodeHost> {
  /** The name of the branch that the push is for. */
  protected readonly base: string;
  protected readonly run: PushRun;
  protected readonly host: Host;
  protected readonly push: Publishable;

  constructor(run: PushRun, host: Host, push: Publishable) {
    this.run = run;
    this.host = host;
    this.push = push;
    this.base = push.base.name.slice('refs/heads/'.length);
  }

  /** False: something has to be made at the host first, which may take long. */
  get isReady(): boolean {
    return true;
  }

  /** @throws Refusal */
  async prepare(): Promise<void> {}

  /** Sends the commits, and opens or updates the pull request. Only after `prepare`. @throws Refusal: see `leavesWork` */
  abstract deliver(proposal: Proposal): Promise<PullRequest>;

  failed(): void {}

  protected tellOpening(): Promise<void> {
    return this.run.reply.step(`Opening the pull request for "${oneLine(this.base)}" ...`);
  }

  protected tellSending({ anonymous: { size } }: Proposal): Promise<void> {
    const commits = size === 1 ? '1 anonymous commit' : `${size} anonymous commits`;
    return this.run.reply.step(`Sending ${commits} ...`);
  }

  /** As `upload`. @throws Refusal */
  protected upload(
    step: 'push' | 'offer',
    { anonymous, pack }: Proposal,
    target: Omit<UploadTarget, 'newTip'>,
  ): Promise<PushReport> {
    const { host, steps, settings } = this.run;
    const whole = { ...target, newTip: anonymous.tip };
    return steps.run(step, () => upload(host.transport, whole, pack(), settings.writeTimeoutMs));
  }

  /** Others may have pushed to what an earlier attempt opened. @param tip its end; zero: nowhere. @throws Refusal */
  protected async refuseOthersWork(
    { source }: Pick<PullRequest, 'source'>,
    prHash: string,
    tip: Oid,
  ): Promise<void> {
    if (source === null || tip === ZERO_OID) return;
    const others = await othersCommits(this.run, source.repository, tip, () => false);
    if (others?.length === 0) return;
    throw othersWork([
      'You opened it with an earlier push, and somebody else has pushed to its branch since.',
      `To update it, push again with -o pr-hash=${prHash}. The answer shows what you can do.`,
    ]);
  }

  /** An open pull request keeps its text and base unless the push names others. The commits are there in any case. */
  protected async edit(anonymous: AnonymousCommits, pullRequest: PullRequest): Promise<PullRequest> {
    const { base, push, run } = this;
    const { title, body } = namedText(push, anonymous);
    const changes = {
      ...(title !== null && { title }),
      ...(body !== null && { body }),
      ...(push.isBaseNamed && base !== pullRequest.base && { base }),
    };
    if (Object.keys(changes).length === 0) return pullRequest;
    try {
      const editing = () => this.host.editPullRequest(push.repository, pullRequest.number, changes);
      await run.steps.run('edit', editing);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      await run.reply.note('Title, description or base could not be changed:', ...error.lines);
    }
    return pullRequest;
  }
}

/** The host's error behind a refusal; null: something else is the reason. */
export function hostErrorOf(error: unknown): HostError | null {
  return error instanceof Refusal && error.cause instanceof HostError ? error.cause : null;
}

/** Whether a retry must find what a failed step left: it may have taken effect, or nothing can be undone now. */
export function leavesWork(error: unknown): boolean {
  return (hostErrorOf(error)?.failure.lasts ?? 'final') !== 'final';
}

/** Whether nobody knows what the host did: its answer is lost. */
export function isInDoubt(error: unknown): boolean {
  return hostErrorOf(error)?.failure.effect === 'unknown';
}

/** Whether a pull request may be open after all. */
export function mayBeOpen(error: unknown): boolean {
  return isInDoubt(error) && ['pull-request', 'offer'].includes((error as Refusal).code);
}

export function overtaken(): Refusal {
  const lines = ['Nothing of this push was kept. Push again to put your commits on top.'];
  return new Refusal('overtaken', 'another push to this pull request came first', lines);
}

/** From the last byte sent to the report. In this time the host checks every object. */
const REPORT_TIMEOUT_MS = 120_000;
/** For a small pack, which needs no time: then the host hangs, and somebody waits. */
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

const stopped = (): Error => new HostError('unreachable', 'The code host stopped reading.');

/**
 * One push to the host: commands, then the pack, written while it is produced. Each write is awaited, so the spool is
 * read no faster than the host accepts data. A host that stops reading for too long, or that answers before it has read
 * everything, ends it. @param pack its pieces. @throws HostError; after `unreachable` it is unknown what happened.
 */
export async function upload(
  transport: GitTransport,
  { repository, refName, pushOptions, oldTip, newTip }: UploadTarget,
  pack: AsyncIterable<Uint8Array>,
  writeTimeoutMs: number,
): Promise<PushReport> {
  const { readable, writable } = new IdentityTransformStream();
  const report = transport.push(repository, readable, pushOptions === undefined ? 'push' : 'offer');
  const writer = new TimedWriter(writable, writeTimeoutMs);
  // They leave with the first bytes of the pack.
  const commands = encodeCommandList({ oldId: oldTip, newId: newTip, refName }, pushOptions);
  let sentBytes = 0;
  /** False: the host has stopped reading. */
  const send = async (): Promise<boolean> => {
    for await (const piece of pack) {
      const bytes = sentBytes === 0 ? concatBytes([commands, piece]) : piece;
      sentBytes += bytes.byteLength;
      if (!(await writer.write(bytes))) return false;
    }
    return writer.close();
  };
  const failed = report.then(() => new Promise<never>(() => {}));
  const sending = send();
  try {
    if (await Promise.race([sending, failed])) {
      const patienceMs = sentBytes <= SHORT_BYTES ? SHORT_REPORT_TIMEOUT_MS : REPORT_TIMEOUT_MS;
      return await within(patienceMs, report, stopped);
    }
    // A host that refuses a pack stops reading it, and sends an answer that says why.
    const { unpackStatus } = await within(EARLY_ANSWER_MS, report, stopped);
    throw new HostError('refused', `The code host says: ${hostText(unpackStatus)}`);
  } catch (error) {
    // The host gets an incomplete pack, and discards it. Nobody else reads the spool before this has stopped.
    await writer.abort();
    await sending.catch(() => {});
    throw error;
  }
}

/* Why receive-pack refused, in our words: in GitHub's are ids that nobody has, pages of the bot, useless commands. */

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

const KNOWN: readonly { readonly when: RegExp; readonly lines: (messages: string) => string[] }[] = [
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
  const [{ reason: ofBranch } = { reason: 'no answer for the branch' }] = commandStatuses;
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
