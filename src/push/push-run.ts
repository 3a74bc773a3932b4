/** One push while it runs: what every part of the code needs from it, and what it has locked. */
import type { BegunPush, PushIntent } from '../durable/pending-push/pending-push.ts';
import type { ClaimedPullRequest } from '../durable/pull-request/pull-request.ts';
import type { DatedCommits, RecordedPullRequest } from '../durable/pull-request/record.ts';
import type { Logger } from '../log.ts';
import type { RepositoryName } from '../repository-name.ts';
import type { Received } from './receive/receive.ts';
import type { PushHost, PushLimits, PushPorts, PushSettings, PushStore } from './push-host.ts';
import { HostSteps, Refusal } from './reply/refusal.ts';
import type { Reply } from './reply/reply.ts';

/** What is pushed, and how: all of a push but its pack. */
export type Pushed = Pick<Received, 'taken' | 'options'>;

export class PushRun implements PushPorts {
  readonly host: PushHost;
  readonly limits: PushLimits;
  readonly store: PushStore;
  readonly settings: PushSettings;
  /** The repository as the request names it. */
  readonly target: RepositoryName;
  /** The messages for the person. */
  readonly reply: Reply;
  readonly logger: Logger;
  readonly steps: HostSteps;
  readonly claims: Claims;
  readonly #beside: Promise<void>[] = [];
  readonly notes: string[] = [];

  constructor(
    { host, limits, store }: PushPorts,
    settings: PushSettings,
    target: RepositoryName,
    { reply, logger }: Pick<PushRun, 'reply' | 'logger'>,
  ) {
    this.host = host;
    this.limits = limits;
    this.store = store;
    this.settings = settings;
    this.target = target;
    this.reply = reply;
    this.logger = logger;
    this.steps = new HostSteps(host.clock, reply, host.transport.hostName);
    this.claims = new Claims(host, store);
  }

  /** Lines that the person should know, told by `tell`: first comes whether commits are open already; rules stand in front. */
  note(...lines: readonly string[]): void {
    this.notes.push(...lines);
  }

  async tell(): Promise<void> {
    await this.reply.note(...this.notes.splice(0));
  }

  /** Adds work that the answer does not wait for. It must not reject. */
  beside(work: Promise<void>): void {
    this.#beside.push(work);
  }

  /** Releases the locks, and waits for work that still runs. @param isAnswered as `Claims.end`. Never rejects. */
  async end(isAnswered: boolean): Promise<void> {
    await Promise.all([this.claims.end(isAnswered), ...this.#beside]);
  }
}

export interface ClaimedUpdate {
  readonly lease: number;
  /** Null: no push has recorded the pull request. */
  readonly recorded: RecordedPullRequest | null;
  readonly dates: readonly DatedCommits[];
}

/** By which a repeated push is recognised, and its place in the limit: what it opens or changes, without its texts. */
export function pushHashOf({ host, store, target }: PushRun, { taken, options }: Pushed): Promise<string> {
  const { newId, refName } = taken.command;
  // A ref name contains no space.
  const parts = [host.nameOf(target), newId, refName, options.base ?? '', options.prHash ?? ''];
  return store.hash('push', parts.join(' '));
}

type Begun = Extract<BegunPush, { kind: 'begun' }>;

/**
 * What a retry finds when a push has ended. `published`: nothing if the client got its answer, else the push to resume.
 * `nothing`: nothing in any case. `work`: unfinished work in any case.
 */
type Left = 'published' | 'nothing' | 'work';

/**
 * What a push locks: the pull request that it updates, while it is judged and published, so that two updates never mix;
 * and itself, while it is published, so that the same push never runs twice at once and a retry resumes it. `end`
 * releases all of it, even a claim that is still on its way.
 */
export class Claims {
  readonly #host: Pick<PushHost, 'hostKey' | 'clock'>;
  readonly #store: PushStore;
  #update: { readonly prHash: string; readonly claiming: Promise<ClaimedPullRequest | null> } | null = null;
  #push: { readonly hash: string; readonly beginning: Promise<BegunPush> } | null = null;
  #isRepeated = false;
  #left: Left = 'published';

  constructor(host: Pick<PushHost, 'hostKey' | 'clock'>, store: PushStore) {
    this.#host = host;
    this.#store = store;
  }

  /**
   * Null if no pull request of this code host is listed with this pr_hash. It may be older than the list: if the host
   * knows it, claim it then. @throws Refusal as `claimPullRequest`.
   */
  claimListed(prHash: string): Promise<ClaimedUpdate | null> {
    return this.#claimIf(this.#store.mayBeRecorded(prHash), prHash);
  }

  /** @throws Refusal */
  async claimPullRequest(prHash: string): Promise<ClaimedUpdate> {
    const claimed = await this.#claimIf(Promise.resolve(true), prHash);
    if (claimed !== null) return claimed;
    throw new Refusal('pr-hash', 'the pr-hash belongs to another code host', [
      'Push to the address that was shown with it, or push without pr-hash to open a new pull request.',
    ]);
  }

  /** Null if the pull request is not wanted, or is on another code host. */
  async #claimIf(isWanted: Promise<boolean>, prHash: string): Promise<ClaimedUpdate | null> {
    const { hostKey, clock } = this.#host;
    const claim = () => this.#store.pullRequest(prHash).claim(hostKey, clock.now());
    const claiming = isWanted.then((wanted) => (wanted ? claim() : null));
    this.#update = { prHash, claiming };
    const claimed = await claiming;
    if (claimed === null || claimed.kind === 'elsewhere') return null;
    if (claimed.kind === 'claimed') return claimed;
    throw inProgress(
      'another push to this pull request is in progress',
      'Push again when it has ended. If its connection broke, push again in a few minutes.',
    );
  }

  /**
   * Begins to publish, or continues what an earlier attempt has begun. No other attempt runs meanwhile. The second time,
   * nothing new is begun.
   * @param pushHash the same for a repeated push.
   * @param proposed hash and date, unless a retry already has them; null: it is not published now.
   * @throws Refusal if the same push is in progress.
   */
  async begin(pushHash: string, target: RepositoryName, proposed: PushIntent | null): Promise<Begun> {
    const { hostKey, clock } = this.#host;
    this.#push ??= {
      hash: pushHash,
      beginning: this.#store.pendingPush(pushHash).begin(pushHash, hostKey, target, proposed, clock.now()),
    };
    const begun = await this.#push.beginning;
    if (begun.kind === 'begun') {
      this.#isRepeated = begun.isRepeated;
      return begun;
    }
    throw inProgress(
      'this push is already in progress',
      'Wait for its answer. If its connection broke, push again in a few minutes. The service then resumes it.',
    );
  }

  /** Leaves unfinished work for a retry. */
  keep(): void {
    this.#left = 'work';
  }

  /** The push has failed. @param leavesWork whether a retry must find what it has done. */
  failed(leavesWork: boolean): void {
    if (this.#left === 'published') this.#left = leavesWork || this.#isRepeated ? 'work' : 'nothing';
  }

  /** Lets others update the pull request. Never rejects. */
  async endUpdate(): Promise<void> {
    const update = this.#update;
    this.#update = null;
    const claimed = await update?.claiming.catch(() => null);
    if (update === null || claimed?.kind !== 'claimed') return;
    await this.#store
      .pullRequest(update.prHash)
      .release(claimed.lease)
      .catch(() => {});
  }

  async #endPush(isAnswered: boolean): Promise<void> {
    const push = this.#push;
    this.#push = null;
    const begun = await push?.beginning.catch(() => null);
    if (push === null || begun?.kind !== 'begun') return;
    const isOver = this.#left === 'published' ? isAnswered : this.#left !== 'work';
    await this.#store
      .pendingPush(push.hash)
      .end(push.hash, begun.lease, isOver)
      .catch(() => {});
  }

  /** @param isAnswered the client has the answer. May be called more than once. Never rejects. */
  async end(isAnswered: boolean): Promise<void> {
    await Promise.all([this.endUpdate(), this.#endPush(isAnswered)]);
  }
}

/** The refusal for a push that has to wait for another one. */
export function inProgress(reason: string, advice: string): Refusal {
  return new Refusal('in-progress', reason, [advice]);
}
