/**
 * The pull request's branch on the bot's fork: prepares the fork, sends the commits, and reads what the host says about
 * them.
 */
import { type Oid, ZERO_OID } from '../../git/objects/oid.ts';
import type { PushReport } from '../../host/git/git-transport.ts';
import { HostError, hostFailureOf } from '../../host-error.ts';
import { prHashOf } from '../../pr-hash.ts';
import type { RepositoryName } from '../../repository-name.ts';
import { othersCommits, othersWork } from '../judge/others-work.ts';
import type { PushRun } from '../push-run.ts';
import { Refusal } from '../reply/refusal.ts';
import type { Publishable } from '../verdict/verdict.ts';
import {
  branchTip,
  ensureFork,
  forgetFork,
  isForkGone,
  knownFork,
  type ReadyFork,
  syncFork,
} from './fork.ts';
import { refusedCommits } from './refused-commits.ts';
import { upload } from './upload.ts';

/** What is sent. Each attempt makes the pack again. */
export interface Sent {
  readonly branch: string;
  /** Where the branch is, the zero id if it is not there; null: nobody has looked, and it may be anywhere. */
  readonly before: Oid | null;
  readonly tip: Oid;
  readonly commitCount: number;
  readonly pack: () => AsyncIterable<Uint8Array>;
  /** Where the branch must be, unless it is gone or has these commits already; null: anywhere. */
  readonly onlyFrom: Oid | null;
}

type Target = Pick<Publishable, 'repository' | 'upstream' | 'ground'>;

export class WorkBranch {
  readonly #run: PushRun;
  readonly #push: Target;
  #ready: ReadyFork | null = null;
  #hasBegun = false;
  /** A sync that the push does not wait for. */
  #syncing: Promise<void> | null = null;

  constructor(run: PushRun, push: Target) {
    this.#run = run;
    this.#push = push;
  }

  /** Whether the fork is there, as far as this isolate knows. */
  get isKnown(): boolean {
    return knownFork(this.#run.host, this.#push.repository) !== undefined;
  }

  /** Only after `prepare`. */
  get fork(): RepositoryName {
    return (this.#ready as ReadyFork).fork;
  }

  /** Makes the fork ready. @throws Refusal */
  async prepare(): Promise<void> {
    const { host, reply } = this.#run;
    const { repository } = this.#push;
    this.#hasBegun = true;
    if (!this.isKnown) await reply.step('Preparing the fork ...');
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
    const ready = await steps.run('fork', () => ensureFork(host, repository, upstream));
    const had = new Set(ready.tips.values());
    this.#syncing = null;
    if (ground.every((oid) => had.has(oid))) {
      // The clone is no newer than the fork, so the fork has every base that the pack needs.
      this.#syncing = syncFork(host, ready, upstream).catch((error: unknown) => {
        logger.warn('the fork was not synced', { error });
        forgetFork(host, repository);
      });
      this.#run.beside(this.#syncing);
    } else {
      await steps.run('sync', () => syncFork(host, ready, upstream));
    }
    this.#ready = ready;
  }

  /** Sends the commits, if they are not there. Only after `prepare`. @throws Refusal if the host did not accept them. */
  async send(sent: Sent): Promise<void> {
    const lookUp = (): Promise<Oid> => this.#lookUp(sent.branch);
    const before: Oid =
      sent.before ?? (await lookUp().catch((error: unknown) => this.#makeAnew(error).then(lookUp)));
    if (before === sent.tip) {
      await this.#run.reply.step('The fork has these commits already.');
      return;
    }
    if (sent.onlyFrom !== null && before !== sent.onlyFrom && before !== ZERO_OID) throw overtaken();
    if (sent.before === null) await this.#refuseOthersWork(sent.branch, before);
    const count = sent.commitCount;
    await this.#run.reply.step(
      `Sending ${count === 1 ? '1 anonymous commit' : `${count} anonymous commits`} ...`,
    );
    // The sync may have used the connection that was opened for the pull request.
    void this.#run.host.connectAhead('pull-request');
    try {
      const report = await this.#sendWhole(sent, before);
      const refusal = refusedCommits(report);
      if (refusal === null) return;
      // The host compares before it swaps: the branch may have moved since we looked.
      const tip = await this.#tipOf(sent.branch).catch(() => null);
      if (tip === sent.tip) return;
      if (tip !== null && tip !== before) throw overtaken();
      throw refusal;
    } catch (error) {
      if (!(await this.#hasArrived(sent, error))) throw error;
    }
  }

  /** An earlier attempt may have opened the pull request, and others may have pushed to it. @throws Refusal */
  async #refuseOthersWork(branch: string, tip: Oid): Promise<void> {
    const others = tip === ZERO_OID ? [] : await othersCommits(this.#run, this.fork, tip, () => false);
    if (others?.length === 0) return;
    throw othersWork([
      'You opened it with an earlier push, and somebody else has pushed to its branch since.',
      `To update it, push again with -o pr-hash=${prHashOf(branch)}. The answer shows what you can do.`,
    ]);
  }

  /** Makes the fork again if it turns out to be gone. @param error what has failed; thrown if the fork is there. */
  async #makeAnew(error: unknown): Promise<void> {
    if (!(await isForkGone(this.#run.host, this.fork, error))) throw error;
    this.forget();
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
      else if (!isMomentary || (await this.#tipOf(sent.branch).catch(() => null)) !== before) return report;
    } catch (error) {
      const { effect, lasts } = hostFailureOf(error instanceof Refusal ? error.cause : error);
      await this.#makeAnew(error).catch((failure: unknown) => {
        // The fork is there, and the host has only refused for a moment.
        if (effect === 'unknown' || lasts !== 'moment') throw failure;
      });
      return this.#upload(sent, await this.#lookUp(sent.branch));
    }
    return this.#upload(sent, before);
  }

  #upload({ branch, tip, pack }: Sent, oldTip: Oid): Promise<PushReport> {
    const { host, steps, settings } = this.#run;
    const target = { fork: this.fork, branch, oldTip, newTip: tip };
    return steps.run('push', () => upload(host.transport, target, pack(), settings.writeTimeoutMs));
  }

  /** Deletes the branch. A failure is only logged, because the branch does no harm. */
  async drop(branch: string): Promise<void> {
    const { host, logger } = this.#run;
    await host.repositories
      .deleteBranch(this.fork, branch)
      .catch((error: unknown) => logger.warn('a branch without a pull request stays on the fork', { error }));
  }

  /** After a failed push, forgets what is known of the fork, unless the host was asked nothing. */
  forget(): void {
    if (this.#hasBegun) forgetFork(this.#run.host, this.#push.repository);
  }

  /** After a broken connection, asks whether the host has accepted the push anyway. */
  async #hasArrived({ branch, tip }: Sent, error: unknown): Promise<boolean> {
    const isOpen =
      error instanceof Refusal &&
      error.cause instanceof HostError &&
      error.cause.failure.effect === 'unknown';
    return isOpen && (await this.#tipOf(branch).catch(() => null)) === tip;
  }

  /** As `#tipOf`. @throws Refusal */
  #lookUp(branch: string): Promise<Oid> {
    return this.#run.steps.run('fork', () => this.#tipOf(branch));
  }

  /** Where the branch is now; the zero id if it is not there. */
  async #tipOf(branch: string): Promise<Oid> {
    return (await branchTip(this.#run.host, this.fork, branch)) ?? ZERO_OID;
  }
}

/** Bases of deltas are missing while it unpacks; other objects when it checks the branch afterwards. */
function lacksObjects({ unpackStatus, commandStatuses }: PushReport): boolean {
  return unpackStatus !== 'ok' || commandStatuses.some(({ reason }) => reason?.startsWith('missing'));
}

function overtaken(): Refusal {
  const lines = ['Nothing of this push was kept. Push again to put your commits on top.'];
  return new Refusal('overtaken', 'another push to this pull request came first', lines);
}
