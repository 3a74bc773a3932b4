/**
 * How an anonymous push becomes a pull request at a host. There are two ways, and the host's class
 * says which one is its own: from a branch of the bot's fork (`from-fork.ts`), or by one push to
 * upstream (`agit.ts`). Here is what they share: sending the commits, and what follows if the host
 * does not take them.
 * Proved by test/push/publish/agit.test.ts and test/e2e/host/host-failures-late.test.ts.
 */
import type { AnonymousCommits } from '../../git/objects/anonymize.ts';
import { type Oid, ZERO_OID } from '../../git/objects/oid.ts';
import { HostError } from '../../words/host-error.ts';
import { oneLine } from '../../words/host-text.ts';
import type { HostPullRequest } from '../../host/code-host.ts';
import type { PushReport } from '../../host/git/git-transport.ts';
import { refusedPush } from '../../host/git/refused-push.ts';
import { upload, type UploadTarget } from '../../host/git/upload.ts';
import type { CodeHost } from '../../host/open.ts';
import { namedText } from '../../text/pull-request-text.ts';
import { othersCommits, othersWork } from '../judge/questions.ts';
import type { PushRun } from '../push-run.ts';
import { Refusal } from '../reply/refusal.ts';
import type { Publishable } from '../verdict.ts';

/** One attempt: what is sent, and what is known of attempts before it. */
export interface Proposal {
  readonly prHash: string;
  readonly botLogin: string;
  readonly anonymous: AnonymousCommits;
  /** Makes the pack again each time. */
  readonly pack: () => AsyncIterable<Uint8Array>;
  /**
   * Where the pull request must be, unless its branch is gone or has these commits already; null:
   * anywhere.
   */
  readonly onlyFrom: Oid | null;
  /** Before each step that makes something public. @throws Refusal if the push was ended */
  readonly mayGoOn: () => Promise<void>;
  /** Whether an earlier attempt was not answered. It may have stopped at any point. */
  readonly isRepeated: boolean;
  /** The pull request that it opened. */
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

  /**
   * Sends the commits, and opens or updates the pull request. After `prepare`.
   * @throws Refusal: see `leavesWork`
   */
  abstract deliver(proposal: Proposal): Promise<HostPullRequest>;

  failed(): void {}

  protected tellOpening(): Promise<void> {
    return this.run.reply.step(`Opening the pull request for "${oneLine(this.base)}" ...`);
  }

  protected tellSending({ anonymous: { objectCount } }: Proposal): Promise<void> {
    const commits = objectCount === 1 ? '1 anonymous commit' : `${objectCount} anonymous commits`;
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

  /**
   * Others may have pushed to what an earlier attempt opened.
   * @param tip its end; zero: nowhere.
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
   * An open pull request keeps its text and base unless the push names others. The commits are
   * there in any case.
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
      const editing = () => this.host.editPullRequest(push.repository, pullRequest.number, changes);
      await run.steps.run('edit', editing);
      this.hasEdited = true;
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

/** Null: the host has accepted the push. */
export function refusedCommits(report: PushReport): Refusal | null {
  const refused = refusedPush(report);
  return (
    refused &&
    new Refusal('push', 'the code host refused the commits', refused.lines, { cause: refused.error })
  );
}
