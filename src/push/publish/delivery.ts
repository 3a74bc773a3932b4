/**
 * How an anonymous push becomes a pull request at a host. There are two ways, and the host's class
 * says which one is its own: from a branch of the bot's fork (`from-fork.ts`), or by one push to
 * upstream (`agit.ts`). This file has the parts that they share: sending the commits, and editing
 * an open pull request.
 * Proved by test/push/publish/agit.test.ts and test/e2e/host/host-failures-late.test.ts.
 */
import type { AnonymousCommits } from '../../git/objects/anonymize.ts';
import { type Oid, ZERO_OID } from '../../git/objects/oid.ts';
import { branchName } from '../../git/wire/ref-advertisement.ts';
import { HostError } from '../../words/host-error.ts';
import { oneLine } from '../../words/host-text.ts';
import type { HostPullRequest } from '../../host/code-host.ts';
import type { PushReport } from '../../host/git/git-answers.ts';
import { refusedPush } from '../../host/git/refused-push.ts';
import { upload, type UploadTarget } from '../../host/git/upload.ts';
import type { CodeHost } from '../../host/open.ts';
import { namedText } from '../../text/pull-request-text.ts';
import { othersCommits, othersWork } from '../judge/updated-branch.ts';
import type { PushRun } from '../push-run.ts';
import { Refusal } from '../reply/refusal.ts';
import type { Publishable } from '../verdict.ts';

/** The commits that are sent, and what is known of earlier attempts to send them. */
export interface Proposal {
  readonly prHash: string;
  readonly botLogin: string;
  readonly anonymous: AnonymousCommits;
  /** Makes the pack again each time. */
  readonly pack: () => AsyncIterable<Uint8Array>;
  /**
   * The commit at which the branch must be, unless it is gone or has these commits already. Null:
   * it may be anywhere.
   */
  readonly onlyFrom: Oid | null;
  /**
   * Allows a step that makes something public.
   * @throws Refusal if the push was ended, or the service is suspended
   */
  readonly mayGoOn: () => Promise<void>;
  /** Whether there may have been an earlier attempt. It may have stopped at any point. */
  readonly isRepeated: boolean;
  /** The pull request that an earlier attempt opened; null: none is known. */
  readonly earlier: HostPullRequest | null;
}

export abstract class Delivery<Host extends CodeHost = CodeHost> {
  /** The name of the branch that the push is for. */
  protected readonly base: string;
  protected readonly run: PushRun;
  protected readonly host: Host;
  protected readonly push: Publishable;
  /** Whether title, description or base of an open pull request were changed. */
  hasEdited = false;
  #hasTold = false;

  constructor(run: PushRun, host: Host, push: Publishable) {
    this.run = run;
    this.host = host;
    this.push = push;
    this.base = branchName(push.base);
  }

  /** Whether nothing has to be made at the host first, which may take long. */
  get isReady(): boolean {
    return true;
  }

  /** Makes at the host what the push needs. @throws Refusal */
  async prepare(): Promise<void> {}

  /**
   * Sends the commits, and opens or updates the pull request. Call it after `prepare`.
   * @throws Refusal that `leavesWork` explains
   */
  abstract deliver(proposal: Proposal): Promise<HostPullRequest>;

  /** Forgets what may be wrong after a failure. */
  failed(): void {}

  /** Says once what is proposed, and for which branch, before the first step that may take long. */
  protected async tellSending(): Promise<void> {
    if (this.#hasTold) return;
    this.#hasTold = true;
    const { length } = this.push.commits;
    const commits = length === 1 ? '1 anonymous commit' : `${length} anonymous commits`;
    await this.run.reply.step(`Sending ${commits} for "${oneLine(this.base)}" ...`);
  }

  /** Uploads the commits as a step of the push. @throws Refusal */
  protected upload(
    step: 'push' | 'offer',
    { anonymous, pack }: Proposal,
    target: Omit<UploadTarget, 'newTip'>,
  ): Promise<PushReport> {
    const { host, steps, settings } = this.run;
    const whole = { ...target, newTip: anonymous.tip };
    return steps.run(step, () => upload(host.transport, whole, pack(), settings.writeTimeoutMs));
  }

  /**
   * Refuses an update if others have pushed to what an earlier attempt opened, or nobody can tell.
   * @param tip the commit at which it ends; the zero id: it is not there
   * @throws Refusal
   */
  protected async refuseOthersWork(
    { source }: Pick<HostPullRequest, 'source'>,
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

  /**
   * Edits an open pull request, which keeps its text and base unless the push names others. If that
   * fails, its commits are up to date all the same.
   */
  protected async edit(anonymous: AnonymousCommits, pullRequest: HostPullRequest): Promise<HostPullRequest> {
    const { base, push, run } = this;
    const { title, body } = namedText(push, anonymous);
    const changes = {
      ...(title !== null && { title }),
      ...(body !== null && { body }),
      ...(push.isBaseNamed && base !== pullRequest.base && { base }),
    };
    if (Object.keys(changes).length === 0) return pullRequest;
    try {
      const { number, app } = pullRequest;
      const editing = () => this.host.editPullRequest(push.repository, number, changes, app?.number ?? null);
      await run.steps.run('edit', editing);
      this.hasEdited = true;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      await run.reply.note('Title, description or base could not be changed:', ...error.lines);
    }
    return pullRequest;
  }
}

/** Finds the host's error behind a refusal; null: something else is the reason. */
export function hostErrorOf(error: unknown): HostError | null {
  return error instanceof Refusal && error.cause instanceof HostError ? error.cause : null;
}

/**
 * Whether a retry must find what a failed step left: it may have taken effect, or nothing can be
 * undone now.
 */
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

/** Makes a refusal from the host's report; null: the host has accepted the push. */
export function refusedCommits(report: PushReport): Refusal | null {
  const refused = refusedPush(report);
  return (
    refused &&
    new Refusal('push', 'the code host refused the commits', refused.lines, { cause: refused.error })
  );
}
