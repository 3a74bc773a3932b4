/**
 * Prepares the bot's fork, sends the commits, and opens the pull request, or finds it after an
 * attempt that died.
 * Proved by test/e2e/push/push-fork.test.ts and test/e2e/push/pr-repeat.test.ts.
 */
import { type Oid, ZERO_OID } from '../../git/objects/oid.ts';
import type { HostPullRequest } from '../../host/code-host.ts';
import { lacksObjects } from '../../host/git/refused-push.ts';
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

/** The outcome of sending the commits to the fork once. */
type Sent = { readonly kind: 'sent' | 'overtaken' } | NotSent;

/** `in-doubt`: the answer is lost, so the host may accept them yet. */
type NotSent =
  | { readonly kind: 'refused'; readonly error: unknown; readonly lacksObjects: boolean }
  | { readonly kind: 'in-doubt'; readonly error: unknown };

export class ForkDelivery extends Delivery<ForkHost> {
  #ready: ReadyFork | null = null;
  /** A sync that the push does not wait for. */
  #syncing: Promise<void> | null = null;

  /** Whether the fork is there, as far as this isolate knows. */
  override get isReady(): boolean {
    return this.#recorded !== null || knownFork(this.run.host, this.push.repository) !== undefined;
  }

  /** The fork. Only `prepare` sets it. */
  get #fork(): RepositoryName {
    return (this.#ready as ReadyFork).fork;
  }

  /** The fork of the pull request that is updated; null: none is. */
  get #recorded(): RepositoryName | null {
    return isUpdate(this.push) ? (this.push.named?.pullRequest.fork ?? null) : null;
  }

  /** Makes the fork ready. @throws Refusal */
  override async prepare(): Promise<void> {
    const { host, steps } = this.run;
    const { repository } = this.push;
    const step = isUpdate(this.push) ? 'sync' : 'pull-request';
    await steps.run(step, () => this.host.expectWelcome(repository));
    if (!this.isReady) await this.tellSending();
    const known = knownFork(host, repository);
    await this.#makeReady().catch(async (error: unknown) => {
      const fork = this.#recorded ?? knownFork(host, repository) ?? known;
      if (fork === undefined || !(await this.#isLost(fork, error))) throw error;
      forgetFork(host, repository);
      if (this.#recorded !== null) throw forkIsGone(error);
      await this.#makeReady();
    });
  }

  /**
   * Tells if a fork is gone or, for a new pull request, is none of upstream's, which may have been
   * deleted and made anew under its name.
   * @param error the reason why the fork is not ready
   */
  async #isLost(fork: RepositoryName, error: unknown): Promise<boolean> {
    const { host } = this.run;
    if (await isForkGone(host, fork, error)) return true;
    return this.#recorded === null && isDetached(host, this.push.repository, fork);
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
   * @param error the reason why no pull request was opened; thrown if the fork is still one
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

  /**
   * Sends the commits, if they are not there.
   * @throws Refusal if the host did not accept them
   */
  async #send(proposal: Proposal): Promise<void> {
    const refName = `refs/heads/${workBranch(proposal.prHash)}`;
    const before = await this.#tipToReplace(proposal, refName);
    if (before === proposal.anonymous.tip) return;
    await this.tellSending();
    // The sync may have used the connection that was opened for the pull request.
    void this.run.host.connectAhead('pull-request');
    await this.#sendFrom(before, proposal, refName);
  }

  /**
   * Answers where the branch is, the zero id if it is not there.
   * @throws Refusal if what is there must not be replaced
   */
  async #tipToReplace(proposal: Proposal, refName: string): Promise<Oid> {
    const { prHash, anonymous, isRepeated } = proposal;
    const { named } = this.push;
    // Null: nobody has looked, and it may be anywhere.
    const known = named === null && !isRepeated ? ZERO_OID : (named?.tip ?? null);
    const before = known ?? (await this.#lookUpOrMakeAnew(refName));
    if (before === anonymous.tip) return before;
    if (known === null)
      await this.refuseOthersWork({ source: { repository: this.#fork, refName } }, prHash, before);
    return before;
  }

  /**
   * Sends the commits, and once more if that can help.
   * @param isLast whether a failure ends it
   * @throws Refusal
   */
  async #sendFrom(before: Oid, proposal: Proposal, refName: string, isLast = false): Promise<void> {
    const outcome = await this.#sendOnce(before, proposal, refName);
    switch (outcome.kind) {
      case 'sent':
        return;
      case 'overtaken':
        throw overtaken();
      case 'refused':
      case 'in-doubt': {
        const next = isLast ? null : await this.#tipToRetryFrom(before, outcome, refName);
        if (next === null) throw outcome.error;
        await this.#sendFrom(next, proposal, refName, true);
      }
    }
  }

  /** Sends the commits once, and finds out what the host has made of them. */
  async #sendOnce(before: Oid, proposal: Proposal, refName: string): Promise<Sent> {
    const { tip } = proposal.anonymous;
    try {
      const report = await this.upload('push', proposal, { repository: this.#fork, refName, oldTip: before });
      const refusal = refusedCommits(report);
      if (refusal === null) return { kind: 'sent' };
      // The host compares before it swaps: the branch may have moved since we looked.
      const now = await this.#shownTip(refName);
      if (now === tip) return { kind: 'sent' };
      if (now !== null && now !== before) return { kind: 'overtaken' };
      return { kind: 'refused', error: refusal, lacksObjects: lacksObjects(report) };
    } catch (error) {
      if (!isInDoubt(error)) return { kind: 'refused', error, lacksObjects: false };
      // After a broken connection, the host may have accepted the push anyway.
      const isThere = (await this.#shownTip(refName)) === tip;
      return isThere ? { kind: 'sent' } : { kind: 'in-doubt', error };
    }
  }

  /**
   * Removes what kept the host from accepting the commits, if it can be removed.
   * @returns where the branch is then; null: nothing helps
   */
  async #tipToRetryFrom(before: Oid, failed: NotSent, refName: string): Promise<Oid | null> {
    const syncing = this.#syncing;
    if (failed.kind === 'refused' && failed.lacksObjects && syncing !== null) {
      // Packs made with bitmaps may leave out what newer upstream commits have: an unfinished sync
      // may lack it.
      await this.run.steps.run('sync', () => syncing);
      return before;
    }
    const { error } = failed;
    // The fault may be over.
    const isOver = failed.kind === 'refused' && hostErrorOf(error)?.failure.lasts === 'moment';
    if (!(await this.#hasMadeAnew(error)) && !isOver) return null;
    const now = await this.#shownTip(refName);
    // What somebody else has pushed meanwhile is not replaced: the host compares.
    return now === null || now === ZERO_OID ? now : before;
  }

  /**
   * Makes the fork again if it turns out to be gone. False: it is there.
   * @param error that may be caused by that
   * @throws Refusal if a pull request that is open stands on it
   */
  async #hasMadeAnew(error: unknown): Promise<boolean> {
    if (!(await isForkGone(this.run.host, this.#fork, error))) return false;
    forgetFork(this.run.host, this.push.repository);
    if (this.#recorded !== null) throw forkIsGone(error);
    await this.prepare();
    return true;
  }

  async #propose({ prHash, anonymous, botLogin, isRepeated, earlier }: Proposal): Promise<HostPullRequest> {
    const { push, run, base } = this;
    const { named, repository, isDraft } = push;
    if (isUpdate(push) && named !== null) return this.edit(anonymous, named.pullRequest);
    if (earlier?.isOpen) return earlier;
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
      throw isDraft ? error : withDraftAdvice(error);
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

  /**
   * Answers where the branch is now, the zero id if it is not there.
   * @throws Refusal
   */
  async #lookUpOrMakeAnew(refName: string): Promise<Oid> {
    const lookUp = (): Promise<Oid> => this.run.steps.run('fork', () => this.#tipOf(refName));
    return lookUp().catch(async (error: unknown) => {
      if (!(await this.#hasMadeAnew(error))) throw error;
      return lookUp();
    });
  }

  /** Answers where the branch is, the zero id if it is not there; null: the host does not say. */
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

/** Adds advice where a repository limits an account's open pull requests: drafts do not count. */
function withDraftAdvice(error: unknown): unknown {
  const cause = hostErrorOf(error);
  if (!(error instanceof Refusal) || cause?.code !== 'refused') return error;
  const { publicMessage } = cause;
  const isLimit = /\bpull requests\b/i.test(publicMessage) && /\b(?:limit|maximum)\b/i.test(publicMessage);
  if (!isLimit) return error;
  const advice = 'A draft does not count towards such a limit: with Git, add -o draft.';
  return new Refusal(error.code, error.reason, [...error.lines, advice], { cause });
}
