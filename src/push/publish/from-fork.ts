/**
 * Prepares the bot's fork, sends the commits, and opens the pull request, or finds it after an
 * attempt that died.
 * Proved by test/e2e/push/push-fork.test.ts and test/e2e/push/pr-repeat.test.ts.
 */
import { type Oid, ZERO_OID } from '../../git/objects/oid.ts';
import { hostFailureOf } from '../../words/host-error.ts';
import type { HostPullRequest } from '../../host/code-host.ts';
import type { PushReport } from '../../host/git/git-transport.ts';
import { lacksObjects } from '../../host/git/upload.ts';
import type { ForkHost } from '../../host/open.ts';
import {
  branchTip,
  ensureFork,
  forgetFork,
  forgetTips,
  isDetached,
  isForkGone,
  knownFork,
  type ReadyFork,
  recordedFork,
  syncFork,
} from '../../host/ready-fork.ts';
import { workBranch } from '../../words/pr-hash.ts';
import type { RepositoryName } from '../../words/repository-name.ts';
import { wholeText } from '../../text/pull-request-text.ts';
import { findPullRequest } from '../judge/questions.ts';
import { Refusal } from '../reply/refusal.ts';
import { isUpdate } from '../verdict.ts';
import {
  Delivery,
  hostErrorOf,
  isInDoubt,
  leavesWork,
  overtaken,
  type Proposal,
  refusedCommits,
} from './delivery.ts';

export class ForkDelivery extends Delivery<ForkHost> {
  #ready: ReadyFork | null = null;
  /** A sync that the push does not wait for. */
  #syncing: Promise<void> | null = null;

  /** Whether the fork is there, as far as this isolate knows. */
  override get isReady(): boolean {
    return this.#recorded !== null || knownFork(this.run.host, this.push.repository) !== undefined;
  }

  /** Only after `prepare`. */
  get #fork(): RepositoryName {
    return (this.#ready as ReadyFork).fork;
  }

  /** The fork of the pull request that is updated; null: none is. */
  get #recorded(): RepositoryName | null {
    return isUpdate(this.push) ? (this.push.named?.pullRequest.fork ?? null) : null;
  }

  /** Makes the fork ready. @throws Refusal */
  override async prepare(): Promise<void> {
    const { host, reply } = this.run;
    const { repository } = this.push;
    if (!this.isReady) await reply.step('Preparing the fork ...');
    const known = knownFork(host, repository);
    await this.#makeReady().catch(async (error: unknown) => {
      const fork = this.#recorded ?? knownFork(host, repository) ?? known;
      if (fork === undefined || !(await isForkGone(host, fork, error))) throw error;
      forgetFork(host, repository);
      if (this.#recorded !== null) throw forkIsGone(error);
      await this.#makeReady();
    });
  }

  async #makeReady(): Promise<void> {
    const { host, limits, steps, logger } = this.run;
    const { repository, upstream, boundary } = this.push;
    const recorded = this.#recorded;
    const takeFork = (): Promise<void> => limits.takeFork(repository);
    const ready = await steps.run('fork', () =>
      recorded === null
        ? ensureFork(host, this.host, takeFork, repository, upstream)
        : recordedFork(host, repository, recorded, upstream),
    );
    this.#ready = ready;
    this.#syncing = null;
    const had = new Set(ready.tips.values());
    if (!boundary.every((oid) => had.has(oid)))
      return steps.run('sync', () => syncFork(this.host, ready, upstream));
    // The clone is no newer than the fork, so the fork has every base that the pack needs.
    this.#syncing = syncFork(this.host, ready, upstream).catch((error: unknown) => {
      logger.warn('the fork was not synced', { error });
      forgetTips(host, ready);
    });
    this.run.beside(this.#syncing);
  }

  override failed(): void {
    if (this.#ready !== null) forgetTips(this.run.host, this.#ready);
  }

  async deliver(proposal: Proposal): Promise<HostPullRequest> {
    await this.#send(proposal);
    await proposal.mayGoOn();
    return this.#propose(proposal).catch(async (error: unknown) => {
      await this.#leaveFork(error, proposal);
      await this.#send(proposal);
      await proposal.mayGoOn();
      return this.#propose(proposal);
    });
  }

  /**
   * Asks for another fork if this one has left the network of upstream, as after a change of its
   * visibility.
   * @param error why no pull request was opened; thrown if the fork is still one
   */
  async #leaveFork(error: unknown, proposal: Proposal): Promise<void> {
    const { host } = this.run;
    const { repository } = this.push;
    const isRefused = this.#recorded === null && hostErrorOf(error)?.status === 422;
    if (!isRefused || !(await isDetached(host, repository, this.#fork))) throw error;
    await this.#dropBranch(proposal);
    forgetFork(host, repository);
    await this.prepare();
  }

  /** Sends the commits, if they are not there. @throws Refusal if the host did not accept them. */
  async #send(proposal: Proposal): Promise<void> {
    const { prHash, anonymous, isRepeated, onlyFrom } = proposal;
    const { tip } = anonymous;
    const { named } = this.push;
    const refName = `refs/heads/${workBranch(prHash)}`;
    // Null: nobody has looked, and it may be anywhere.
    const known = named === null && !isRepeated ? ZERO_OID : (named?.tip ?? null);
    const lookUp = (): Promise<Oid> => this.#lookUp(refName);
    const before: Oid =
      known ?? (await lookUp().catch((error: unknown) => this.#makeAnew(error).then(lookUp)));
    if (before === tip) return;
    if (onlyFrom !== null && before !== onlyFrom && before !== ZERO_OID) throw overtaken();
    if (known === null)
      await this.refuseOthersWork({ source: { repository: this.#fork, refName } }, prHash, before);
    await this.tellSending(proposal);
    // The sync may have used the connection that was opened for the pull request.
    void this.run.host.connectAhead('pull-request');
    try {
      const refusal = refusedCommits(await this.#sendWhole(proposal, refName, before));
      if (refusal === null) return;
      // The host compares before it swaps: the branch may have moved since we looked.
      const now = await this.#shownTip(refName);
      if (now === tip) return;
      throw now !== null && now !== before ? overtaken() : refusal;
    } catch (error) {
      // After a broken connection, the host may have accepted the push anyway.
      if (!isInDoubt(error) || (await this.#shownTip(refName)) !== tip) throw error;
    }
  }

  /**
   * Makes the fork again if it turns out to be gone.
   * @param error what has failed; thrown if the fork is there
   * @throws Refusal if a pull request that is open stands on it
   */
  async #makeAnew(error: unknown): Promise<void> {
    if (!(await isForkGone(this.run.host, this.#fork, error))) throw error;
    forgetFork(this.run.host, this.push.repository);
    if (this.#recorded !== null) throw forkIsGone(error);
    await this.prepare();
  }

  /** If the fork turns out to be gone, makes it again, once. */
  async #sendWhole(proposal: Proposal, refName: string, before: Oid): Promise<PushReport> {
    const send = (oldTip: Oid): Promise<PushReport> =>
      this.upload('push', proposal, { repository: this.#fork, refName, oldTip });
    try {
      const report = await send(before);
      // Packs made with bitmaps may leave out what newer upstream commits have: an unfinished sync
      // may lack it.
      const syncing = this.#syncing;
      const refusal = refusedCommits(report);
      const isMomentary = refusal !== null && hostFailureOf(refusal.cause).lasts === 'moment';
      if (lacksObjects(report) && syncing !== null) await this.run.steps.run('sync', () => syncing);
      // A fault may be over: once more, if nothing has been done.
      else if (!isMomentary || (await this.#shownTip(refName)) !== before) return report;
    } catch (error) {
      const { effect, lasts } = hostFailureOf(error instanceof Refusal ? error.cause : error);
      await this.#makeAnew(error).catch((failure: unknown) => {
        // The fork is there, and the host has only refused for a moment.
        if (effect === 'unknown' || lasts !== 'moment') throw failure;
      });
      // What somebody else has pushed meanwhile is not replaced: the host compares.
      return send((await this.#lookUp(refName)) === ZERO_OID ? ZERO_OID : before);
    }
    return send(before);
  }

  async #propose({ prHash, anonymous, botLogin, isRepeated, earlier }: Proposal): Promise<HostPullRequest> {
    const { push, run, base } = this;
    const { named, repository, isDraft } = push;
    if (isUpdate(push) && named !== null) return this.edit(anonymous, named.pullRequest);
    if (earlier?.isOpen) return earlier;
    await this.tellOpening();
    const branch = workBranch(prHash);
    const head = { owner: this.#fork.owner, branch };
    const request = { head, base, isDraft, ...wholeText(push, anonymous) };
    try {
      return await run.steps.run('pull-request', () => this.host.openPullRequest(repository, request));
    } catch (error) {
      // Another attempt at the same push may have been faster.
      const found = await findPullRequest(run, repository, botLogin, prHash, null).catch(() => null);
      if (found?.isOpen) return found;
      if (!leavesWork(error)) await this.#dropBranch({ prHash, isRepeated });
      throw isDraft ? error : withAdvice(error);
    }
  }

  /**
   * Deletes a branch without a pull request, unless one may be open, now or from before: that would
   * be closed.
   */
  async #dropBranch({ prHash, isRepeated }: Pick<Proposal, 'prHash' | 'isRepeated'>): Promise<void> {
    if (isRepeated || this.push.named !== null) return;
    await this.host.deleteBranch(this.#fork, workBranch(prHash)).catch((error: unknown) => {
      this.run.logger.warn('a branch without a pull request stays on the fork', { error });
    });
  }

  /** Where the branch is now; the zero id if it is not there. @throws Refusal */
  #lookUp(refName: string): Promise<Oid> {
    return this.run.steps.run('fork', () => this.#tipOf(refName));
  }

  /** As `#lookUp`; null if the host does not say. */
  #shownTip(refName: string): Promise<Oid | null> {
    return this.#tipOf(refName).catch(() => null);
  }

  async #tipOf(refName: string): Promise<Oid> {
    return (await branchTip(this.run.host, { repository: this.#fork, refName })) ?? ZERO_OID;
  }
}

function forkIsGone(cause: unknown): Refusal {
  return new Refusal(
    'fork',
    'the fork of the pull request is gone',
    [
      'It was deleted or renamed meanwhile. Nothing was changed.',
      'Push the same again: the service finds it, or opens a new pull request.',
    ],
    { cause },
  );
}

/** GitHub lets a repository limit the open pull requests of an account, without drafts. */
function withAdvice(error: unknown): unknown {
  const cause = hostErrorOf(error);
  if (!(error instanceof Refusal) || cause?.code !== 'refused') return error;
  const { publicMessage } = cause;
  const isLimit = /\bpull requests\b/i.test(publicMessage) && /\b(?:limit|maximum)\b/i.test(publicMessage);
  if (!isLimit) return error;
  const advice = 'A draft does not count towards such a limit: with Git, add -o draft.';
  return new Refusal(error.code, error.reason, [...error.lines, advice], { cause });
}
