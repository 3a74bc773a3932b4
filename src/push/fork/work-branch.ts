/**
 * The pull request's branch on the bot's fork: the fork is made ready, the commits are sent, and what the host says
 * about it is read.
 */
import type { Oid } from '../../git/oid.ts';
import type { Ref } from '../../git/ref-advertisement.ts';
import type { PushReport } from '../../host/git/git-transport.ts';
import type { Repository } from '../../host/code-host.ts';
import { HostError, hostText } from '../../host/host-error.ts';
import type { RepositoryName } from '../../host/repository-name.ts';
import { ensureFork, forgetFork, isForkGone, type ReadyFork, syncFork } from './fork.ts';
import type { PackRelay } from './pack-relay.ts';
import type { PushRun } from '../push-run.ts';
import { Refusal } from '../reply/refusal.ts';
import type { RewrittenHistory } from '../rewriting/rewriting.ts';
import { Upload } from './upload.ts';

export interface WorkBranchFacts {
  /** What the fork is a fork of. */
  readonly repository: Repository;
  readonly branch: string;
  /** False: it cannot be on the fork yet. */
  readonly mayExist: boolean;
  readonly writeTimeoutMs: number;
}

export class WorkBranch {
  readonly #run: PushRun;
  readonly #facts: WorkBranchFacts;
  #ready: ReadyFork | null = null;
  /** A sync that the push does not wait for. */
  #syncing: Promise<void> | null = null;

  constructor(run: PushRun, facts: WorkBranchFacts) {
    this.#run = run;
    this.#facts = facts;
  }

  /** Only after `open`. */
  get fork(): RepositoryName {
    return (this.#ready as ReadyFork).fork;
  }

  /**
   * Makes the fork ready, and opens the way to it; null if the branch stands where it should already. Called a second
   * time when the fork turned out to be gone.
   * @param upstream the refs that the commits stand on. @param cleared nothing may leave before.
   * @throws Refusal; what `cleared` rejects with.
   */
  async open(
    upstream: readonly Ref[],
    rewritten: RewrittenHistory,
    cleared: Promise<void>,
  ): Promise<Upload | null> {
    const { host, reply } = this.#run;
    this.forget();
    await reply.progress('Preparing the fork ...');
    const { tip, commitCount, ground } = rewritten;
    const ready = await this.#makeReady(upstream, ground).catch((error: unknown) => {
      if (!isForkGone(error)) throw error;
      // The fork that was remembered is gone.
      forgetFork(host, this.#facts.repository);
      return this.#makeReady(upstream, ground);
    });
    this.#ready = ready;
    await cleared;
    if (ready.workBranchTip === tip) {
      await reply.progress('The fork has these commits already.');
      return null;
    }
    const commits = commitCount === 1 ? '1 anonymous commit' : `${commitCount} anonymous commits`;
    await reply.progress(`Sending ${commits} ...`);
    // The sync may have taken the connection that the pull request was to have.
    void host.connectAhead('pull-request');
    const { branch, writeTimeoutMs } = this.#facts;
    const target = { fork: ready.fork, branch, oldTip: ready.workBranchTip, newTip: tip };
    return new Upload(host.transport, target, writeTimeoutMs);
  }

  /** @param ground what the commits stand on. */
  async #makeReady(upstream: readonly Ref[], ground: ReadonlySet<Oid>): Promise<ReadyFork> {
    const { host, steps, logger } = this.#run;
    const { repository, branch, mayExist } = this.#facts;
    const ready = await steps.run('fork', () => ensureFork(host, repository, upstream, branch, !mayExist));
    const had = new Set(ready.tips.values());
    this.#syncing = null;
    if ([...ground].every((oid) => had.has(oid))) {
      // The clone is as old as the fork, so the fork has all that the pack stands on.
      this.#syncing = syncFork(host, ready, upstream).catch((error: unknown) => {
        logger.warn('the fork was not synced', { error });
        this.forget();
      });
    } else {
      await steps.run('sync', () => syncFork(host, ready, upstream));
    }
    return ready;
  }

  /** Sends what the relay still has. @throws Refusal if the host did not take it. */
  async complete(relay: PackRelay): Promise<void> {
    try {
      const report = await this.#send(relay);
      const reason = report === null ? null : refusalOf(report);
      if (report === null || reason === null) return;
      // The host compares before it swaps: the branch may not be where it was when it was looked at.
      const tip = await this.#tip();
      if (tip !== undefined && tip === relay.rewritten?.tip) return;
      if (tip !== undefined && tip !== this.#ready?.workBranchTip) throw overtaken();
      throw new Refusal('the code host refused the commits', hostLines(reason, report.messages));
    } catch (error) {
      await relay.abort();
      if (!(await this.#hasArrived(relay, error))) throw error;
    }
  }

  /**
   * Git may leave out what newer upstream commits have that the person has fetched, although the work does not stand on
   * them (packs made with bitmaps). So if the sync was still under way, the host may have lacked something.
   */
  async #send(relay: PackRelay): Promise<PushReport | null> {
    const report = await relay.finish();
    const syncing = this.#syncing;
    if (report === null || !lacksObjects(report) || syncing === null) return report;
    await this.#run.steps.run('sync', () => syncing);
    if (relay.isRepeatable) return relay.repeat();
    throw new Refusal('the fork was not up to date', ['It is now. Push again.']);
  }

  /** Takes it away. A failure is only logged: the branch helps nobody, and harms nobody. */
  async drop(onFailure: (error: unknown) => void): Promise<void> {
    await this.#run.host.repositories.deleteBranch(this.fork, this.#facts.branch).catch(onFailure);
  }

  /** Until nothing goes on beside the push any more. Never rejects. */
  async settle(): Promise<void> {
    await this.#syncing;
  }

  /** After a push that failed, nothing is known of the fork for sure. */
  forget(): void {
    if (this.#ready !== null) forgetFork(this.#run.host, this.#ready.repository);
  }

  /** After a connection that broke: the host may have taken the push all the same. */
  async #hasArrived(relay: PackRelay, error: unknown): Promise<boolean> {
    const isOpen =
      error instanceof Refusal && error.cause instanceof HostError && error.cause.code === 'unreachable';
    if (!isOpen || this.#ready === null) return false;
    const tip = await this.#tip();
    return tip !== undefined && tip === relay.rewritten?.tip;
  }

  /** Undefined if it is not there, or the host does not say. */
  async #tip(): Promise<string | undefined> {
    const name = `refs/heads/${this.#facts.branch}`;
    const list = await this.#run.host.transport.listRefs(this.fork, [name], 'bot').catch(() => null);
    return list?.refs.find((ref) => ref.name === name)?.oid;
  }
}

/** Why the host did not take the push; null if it did. */
function refusalOf({ unpackStatus, commandStatuses }: PushReport): string | null {
  if (unpackStatus !== 'ok') return `unpack ${unpackStatus}`;
  const [status] = commandStatuses;
  return status === undefined ? 'no answer for the branch' : status.reason;
}

/** Bases of deltas are missing while it unpacks; other objects when it checks the branch afterwards. */
function lacksObjects({ unpackStatus, commandStatuses }: PushReport): boolean {
  return unpackStatus !== 'ok' || commandStatuses.some(({ reason }) => reason?.startsWith('missing'));
}

/** The host's own words, line by line; they say which of its rules the push broke. */
function hostLines(reason: string, messages: string): string[] {
  const lines = messages.split('\n').map(hostText).filter(Boolean).slice(0, 20);
  return [`The code host says: ${hostText(reason)}`, ...lines.map((line) => `  ${line}`)];
}

function overtaken(): Refusal {
  return new Refusal('another push to this pull request came first', [
    'Nothing of this one was kept. Push again to put yours on top.',
  ]);
}
