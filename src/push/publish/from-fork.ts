/**
 * A pull request from a branch of the bot's fork: prepares the fork, sends the commits, reads what the host says about
 * them, and opens the pull request or finds it again after an attempt that died.
 */
import { type Oid, ZERO_OID } from '../../git/objects/oid.ts';
import type { ForkHost } from '../../host/open.ts';
import type { PullRequest } from '../../host/code-host.ts';
import type { PushReport } from '../../host/git/git-transport.ts';
import { HostError, hostFailureOf } from '../../host-error.ts';
import { workBranch } from '../../pr-hash.ts';
import type { RepositoryName } from '../../repository-name.ts';
import { findPullRequest } from '../judge/questions.ts';
import type { PushRun } from '../push-run.ts';
import { Refusal } from '../reply/refusal.ts';
import { isUpdate, type Publishable, wholeText } from '../verdict/verdict.ts';
import {
  baseOf,
  type Delivery,
  edit,
  leavesWork,
  type Proposal,
  refuseOthersWork,
  tellOpening,
  type Sent,
} from './delivery.ts';
import {
  branchTip,
  ensureFork,
  forgetFork,
  isForkGone,
  knownFork,
  type ReadyFork,
  syncFork,
} from './fork.ts';
import { overtaken, refusedCommits, tellSending, upload } from './upload.ts';

export class ForkDelivery implements Delivery {
  readonly #run: PushRun;
  readonly #host: ForkHost;
  readonly #push: Publishable;
  #ready: ReadyFork | null = null;
  #hasBegun = false;
  /** A sync that the push does not wait for. */
  #syncing: Promise<void> | null = null;

  constructor(run: PushRun, host: ForkHost, push: Publishable) {
    this.#run = run;
    this.#host = host;
    this.#push = push;
  }

  /** Whether the fork is there, as far as this isolate knows. */
  get isReady(): boolean {
    return knownFork(this.#run.host, this.#push.repository) !== undefined;
  }

  /** Only after `prepare`. */
  get #fork(): RepositoryName {
    return (this.#ready as ReadyFork).fork;
  }

  /** Makes the fork ready. @throws Refusal */
  async prepare(): Promise<void> {
    const { host, reply } = this.#run;
    const { repository } = this.#push;
    this.#hasBegun = true;
    if (!this.isReady) await reply.step('Preparing the fork ...');
    const known = knownFork(host, repository);
    await this.#makeReady().catch(async (error: unknown) => {
      const fork = knownFork(host, repository) ?? known;
      forgetFork(host, repository);
      if (fork === undefined || !(await isForkGone(host, fork, error))) throw error;
      await this.#makeReady();
    });
  }

  async #makeReady(): Promise<void> {
    const { host, steps, logger } = this.#run;
    const { repository, upstream, ground } = this.#push;
    const ready = await steps.run('fork', () => ensureFork(this.#run, this.#host, repository, upstream));
    const had = new Set(ready.tips.values());
    this.#syncing = null;
    if (ground.every((oid) => had.has(oid))) {
      // The clone is no newer than the fork, so the fork has every base that the pack needs.
      this.#syncing = syncFork(host, this.#host, ready, upstream).catch((error: unknown) => {
        logger.warn('the fork was not synced', { error });
        forgetFork(host, repository);
      });
      this.#run.beside(this.#syncing);
    } else {
      await steps.run('sync', () => syncFork(host, this.#host, ready, upstream));
    }
    this.#ready = ready;
  }

  async deliver(sent: Sent, proposal: Proposal): Promise<PullRequest> {
    await this.#send(sent, proposal);
    await sent.mayGoOn();
    return this.#propose(proposal);
  }

  /** Sends the commits, if they are not there. @throws Refusal if the host did not accept them. */
  async #send(sent: Sent, { isRepeated }: Proposal): Promise<void> {
    const { named } = this.#push;
    const branch = workBranch(sent.prHash);
    const lookUp = (): Promise<Oid> => this.#lookUp(branch);
    // Null: nobody has looked, and it may be anywhere.
    const known = named === null && !isRepeated ? ZERO_OID : (named?.tip ?? null);
    const before: Oid =
      known ?? (await lookUp().catch((error: unknown) => this.#makeAnew(error).then(lookUp)));
    if (before === sent.tip) {
      await this.#run.reply.step('The fork has these commits already.');
      return;
    }
    if (sent.onlyFrom !== null && before !== sent.onlyFrom && before !== ZERO_OID) throw overtaken();
    if (known === null) {
      const source = { repository: this.#fork, refName: `refs/heads/${branch}` };
      await refuseOthersWork(this.#run, { source }, sent.prHash, before);
    }
    await tellSending(this.#run, sent.commitCount);
    // The sync may have used the connection that was opened for the pull request.
    void this.#run.host.connectAhead('pull-request');
    try {
      const report = await this.#sendWhole(sent, before);
      const refusal = refusedCommits(report);
      if (refusal === null) return;
      // The host compares before it swaps: the branch may have moved since we looked.
      const tip = await this.#tipOf(branch).catch(() => null);
      if (tip === sent.tip) return;
      if (tip !== null && tip !== before) throw overtaken();
      throw refusal;
    } catch (error) {
      if (!(await this.#hasArrived(sent, error))) throw error;
    }
  }

  /** Makes the fork again if it turns out to be gone. @param error what has failed; thrown if the fork is there. */
  async #makeAnew(error: unknown): Promise<void> {
    if (!(await isForkGone(this.#run.host, this.#fork, error))) throw error;
    this.failed();
    await this.prepare();
  }

  /** If the fork turns out to be gone, makes it again, once. */
  async #sendWhole(sent: Sent, before: Oid): Promise<PushReport> {
    try {
      const report = await this.#upload(sent, before);
      // Git may leave out what newer upstream commits have that the person has fetched, although the work does not
      // stand on them (packs made with bitmaps). So if the sync was still under way, the host may have lacked
      // something.
      const syncing = this.#syncing;
      const refusal = refusedCommits(report);
      const isMomentary = refusal !== null && hostFailureOf(refusal.cause).lasts === 'moment';
      if (lacksObjects(report) && syncing !== null) await this.#run.steps.run('sync', () => syncing);
      // A fault may be over: once more, if nothing has been done.
      else if (!isMomentary || (await this.#tipOf(workBranch(sent.prHash)).catch(() => null)) !== before)
        return report;
    } catch (error) {
      const { effect, lasts } = hostFailureOf(error instanceof Refusal ? error.cause : error);
      await this.#makeAnew(error).catch((failure: unknown) => {
        // The fork is there, and the host has only refused for a moment.
        if (effect === 'unknown' || lasts !== 'moment') throw failure;
      });
      return this.#upload(sent, await this.#lookUp(workBranch(sent.prHash)));
    }
    return this.#upload(sent, before);
  }

  #upload({ prHash, tip, pack }: Sent, oldTip: Oid): Promise<PushReport> {
    const { host, steps, settings } = this.#run;
    const refName = `refs/heads/${workBranch(prHash)}`;
    const target = { repository: this.#fork, refName, oldTip, newTip: tip };
    return steps.run('push', () => upload(host.transport, target, pack(), settings.writeTimeoutMs));
  }

  async #propose({ prHash, anonymous, botLogin, isRepeated, earlier }: Proposal): Promise<PullRequest> {
    const { named, repository } = this.#push;
    if (isUpdate(this.#push) && named !== null)
      return edit(this.#run, this.#push, anonymous, named.pullRequest);
    if (earlier?.isOpen) return earlier;
    await tellOpening(this.#run, this.#push);
    const branch = workBranch(prHash);
    const { isDraft } = this.#push;
    const text = wholeText(this.#push, anonymous);
    const request = { head: { owner: this.#fork.owner, branch }, base: baseOf(this.#push), isDraft, ...text };
    try {
      return await this.#run.steps.run('pull-request', () => this.#host.openPullRequest(repository, request));
    } catch (error) {
      // Another attempt at the same push may have been faster.
      const found = await findPullRequest(this.#run, repository, botLogin, prHash, null).catch(() => null);
      if (found?.isOpen) return found;
      // A branch without a pull request is useless. But it stays if this or an earlier attempt may have opened one,
      // because deleting it would close that. It also stays if it had one before this push.
      if (!isRepeated && named === null && !leavesWork(error)) await this.#drop(branch);
      throw isDraft ? error : withAdvice(error);
    }
  }

  /** Deletes the branch. A failure is only logged, because the branch does no harm. */
  async #drop(branch: string): Promise<void> {
    const { logger } = this.#run;
    await this.#host
      .deleteBranch(this.#fork, branch)
      .catch((error: unknown) => logger.warn('a branch without a pull request stays on the fork', { error }));
  }

  /** Forgets what is known of the fork, unless the host was asked nothing. */
  failed(): void {
    if (this.#hasBegun) forgetFork(this.#run.host, this.#push.repository);
  }

  /** After a broken connection, asks whether the host has accepted the push anyway. */
  async #hasArrived({ prHash, tip }: Sent, error: unknown): Promise<boolean> {
    const isOpen =
      error instanceof Refusal &&
      error.cause instanceof HostError &&
      error.cause.failure.effect === 'unknown';
    return isOpen && (await this.#tipOf(workBranch(prHash)).catch(() => null)) === tip;
  }

  /** As `#tipOf`. @throws Refusal */
  #lookUp(branch: string): Promise<Oid> {
    return this.#run.steps.run('fork', () => this.#tipOf(branch));
  }

  /** Where the branch is now; the zero id if it is not there. */
  async #tipOf(branch: string): Promise<Oid> {
    const source = { repository: this.#fork, refName: `refs/heads/${branch}` };
    return (await branchTip(this.#run.host, source)) ?? ZERO_OID;
  }
}

/** Bases of deltas are missing while it unpacks; other objects when it checks the branch afterwards. */
function lacksObjects({ unpackStatus, commandStatuses }: PushReport): boolean {
  return unpackStatus !== 'ok' || commandStatuses.some(({ reason }) => reason?.startsWith('missing'));
}

/** GitHub lets a repository limit the open pull requests of an account, without drafts. */
function withAdvice(error: unknown): unknown {
  if (!(error instanceof Refusal && error.cause instanceof HostError)) return error;
  const { code, publicMessage } = error.cause;
  const isLimit = /\bpull requests\b/i.test(publicMessage) && /\b(?:limit|maximum)\b/i.test(publicMessage);
  if (code !== 'refused' || !isLimit) return error;
  const advice = 'A draft does not count towards such a limit: with Git, add -o draft.';
  return new Refusal(error.code, error.reason, [...error.lines, advice], { cause: error.cause });
}
