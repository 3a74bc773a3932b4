/**
 * One push while it runs: its ports and settings, the locks that it holds, and the check of the key
 * that it gives.
 * Proved by test/push/claims.test.ts and test/push/received-hash.test.ts.
 */
import type { BeginAnswer, PushIntent } from '../durable/pending-push/pending-push.ts';
import type { ClaimedPullRequest } from '../durable/pull-request/pull-request.ts';
import type { Logger } from '../log.ts';
import type { RepositoryName } from '../words/repository-name.ts';
import type { Consent } from './consent.ts';
import type { PushOptions } from './receive/push-options.ts';
import type { Received } from './receive/receive.ts';
import type { PushHost, PushLimits, PushPorts, PushSettings, PushStore } from './push-host.ts';
import { HostSteps, Refusal } from './reply/refusal.ts';
import type { Reply } from './reply/reply.ts';

/** The command and options of a push, without its pack. */
export type Pushed = Pick<Received, 'taken' | 'options'>;

export class PushRun implements PushPorts {
  readonly host: PushHost;
  readonly limits: PushLimits;
  readonly store: PushStore;
  readonly settings: PushSettings;
  /** The repository as the request names it. */
  readonly target: RepositoryName;
  readonly reply: Reply;
  readonly consent: Consent;
  readonly logger: Logger;
  readonly steps: HostSteps;
  readonly claims: Claims;
  /**
   * Lines for the person, which `tell` tells after it was said whether commits are open already.
   * Those about the repository's rules stand in front.
   */
  readonly notes: string[] = [];
  readonly #beside: Promise<void>[] = [];

  constructor(
    { host, limits, store }: PushPorts,
    settings: PushSettings,
    target: RepositoryName,
    reply: Reply,
    consent: Consent,
    logger: Logger,
  ) {
    this.host = host;
    this.limits = limits;
    this.store = store;
    this.settings = settings;
    this.target = target;
    this.reply = reply;
    this.consent = consent;
    this.logger = logger;
    this.steps = new HostSteps(host.clock, reply, host.transport.hostName);
    this.claims = new Claims(host, store);
  }

  async tell(): Promise<void> {
    await this.reply.note(...this.notes.splice(0));
  }

  /** Adds work that the answer does not wait for. It must not reject. */
  beside(work: Promise<void>): void {
    this.#beside.push(work);
  }

  /**
   * Releases the locks, and waits for work that still runs. Never rejects.
   * @param isAnswered as for `Claims.end`
   */
  async end(isAnswered: boolean): Promise<void> {
    await Promise.all([this.claims.end(isAnswered), ...this.#beside]);
  }
}

export type ClaimedUpdate = Omit<Extract<ClaimedPullRequest, { kind: 'claimed' }>, 'kind'>;

/** Names the slot of a push in the limit before its pack has come. Its retries share the slot. */
export function slotHashOf({ host, store, target }: PushRun, { taken, options }: Pushed): Promise<string> {
  const { newId, refName } = taken.command;
  // A ref name contains no space.
  const parts = [host.nameOf(target), newId, refName, options.base ?? '', options.prHash ?? ''];
  return store.hash('push', parts.join(' '));
}

/**
 * Names everything that a push has sent, and those of its options that change what is published.
 * By this, a push is recognised that is made again: whoever has only guessed an id cannot send it.
 * It leaves out what may differ the second time: when to publish, where the branch was before, and
 * how the objects are packed, because Git packs with several threads, and reuses what it has packed
 * since. So commits count by the ids of their bytes, and all other objects by number and size:
 * an entry may be a delta of an object that only upstream has, so its id is not known here.
 */
export function receivedHashOf(
  { host, store, target }: PushRun,
  { taken, options, pack }: Received,
): Promise<string> {
  const { newId, refName } = taken.command;
  const { title, description, base, squash, draft, overwrite, signOff, ai, issue, prHash } = options;
  const strips = options.stripTrails ? ['strip-trails'] : [];
  const what = [
    host.nameOf(target),
    refName,
    newId,
    prHash,
    base,
    squash,
    draft,
    overwrite,
    signOff,
    ...strips,
  ];
  const texts = [title, description, ai, issue];
  const objects = `[${pack.kept.sortedOids()},${pack.entryCount},${pack.objectBytes}]`;
  return store.hash('received', `[${JSON.stringify(what)},${JSON.stringify(texts)},${objects}]`);
}

/**
 * Locks of a push: on the pull request that it updates, so that two updates never mix; and on
 * itself, so that it never runs twice at once, and a retry resumes it. `end` releases all, even a
 * claim that is still on its way.
 */
export class Claims {
  readonly #host: Pick<PushHost, 'hostKey' | 'clock'>;
  readonly #store: PushStore;
  #update: { prHash: string; claiming: Promise<ClaimedPullRequest | null> } | null = null;
  #push: { hash: string; beginning: Promise<BeginAnswer> } | null = null;
  #isRepeated = false;
  #locksNothing = false;
  #hasOpened = false;
  /** Whether a retry must find nothing of it. Null: only if its client gets the answer. */
  #isOver: boolean | null = null;

  constructor(host: Pick<PushHost, 'hostKey' | 'clock'>, store: PushStore) {
    this.#host = host;
    this.#store = store;
  }

  /**
   * Makes claims only read from now on, because a preview changes nothing, and whoever knows a
   * pr_hash can make many.
   */
  lockNothing(): void {
    this.#locksNothing = true;
  }

  /**
   * Claims a pull request that is listed at this code host; null: none is. If the host knows an
   * older one, claim it then.
   * @throws Refusal
   */
  claimListed(prHash: string): Promise<ClaimedUpdate | null> {
    return this.#claimIf(this.#store.mayBeRecorded(prHash), prHash);
  }

  /** Claims a pull request, listed or not. @throws Refusal */
  async claimPullRequest(prHash: string): Promise<ClaimedUpdate> {
    const claimed = await this.#claimIf(Promise.resolve(true), prHash);
    if (claimed !== null) return claimed;
    throw new Refusal('pr-hash', 'the pr-hash belongs to another code host', [
      'Push to the address that was shown with it, or push without pr-hash to open a new pull request.',
    ]);
  }

  /** Answers null if the pull request is not wanted, or is on another code host. */
  async #claimIf(isWanted: Promise<boolean>, prHash: string): Promise<ClaimedUpdate | null> {
    const { hostKey, clock } = this.#host;
    const claim = () => {
      const pullRequest = this.#store.pullRequest(prHash);
      return this.#locksNothing
        ? pullRequest.look(hostKey, clock.now())
        : pullRequest.claim(hostKey, clock.now());
    };
    const claiming = isWanted.then((wanted) => (wanted ? claim() : null));
    this.#update = this.#locksNothing ? null : { prHash, claiming };
    const claimed = await claiming;
    if (claimed === null || claimed.kind === 'elsewhere') return null;
    if (claimed.kind === 'claimed') return claimed;
    throw inProgress(
      'another push to this pull request is in progress',
      'Push again when it has ended. If its connection broke, push again in a few minutes.',
    );
  }

  /**
   * Begins to publish, or continues what an earlier attempt has begun. A second call answers the
   * same as the first.
   * @param proposed hash and date, unless a retry has them; null: it is not published now
   * @throws Refusal if the same push is in progress
   */
  async begin(pushHash: string, target: RepositoryName, proposed: PushIntent | null) {
    const { hostKey, clock } = this.#host;
    this.#push ??= {
      hash: pushHash,
      beginning: this.#store.pendingPush(pushHash).begin(pushHash, hostKey, target, proposed, clock.now()),
    };
    const begun = await this.#push.beginning;
    if (begun.kind === 'busy')
      throw inProgress(
        'this push is already in progress',
        'Wait for its answer. If its connection broke, push again in a few minutes. The service then resumes it.',
      );
    this.#isRepeated = begun.isRepeated;
    return begun;
  }

  /** Stores another decision before anything is sent: the date, or also the hash. */
  async decide(intent: PushIntent): Promise<void> {
    const push = this.#push;
    const begun = await push?.beginning;
    if (push === null || begun?.kind !== 'begun') return;
    this.#isRepeated &&= begun.intent?.prHash === intent.prHash;
    const now = this.#host.clock.now();
    await this.#store.pendingPush(push.hash).decide(push.hash, begun.lease, intent, now);
  }

  /** Remembers that the pull request is open: for a while, the same push finds it. */
  opened(): void {
    this.#hasOpened = true;
  }

  /**
   * Remembers a failure.
   * @param leavesWork whether a retry must find what the push has done
   */
  failed(leavesWork: boolean): void {
    this.#isOver ??= !leavesWork && !this.#isRepeated;
  }

  /** Lets others update the pull request. Never rejects. */
  async endUpdate(): Promise<void> {
    const update = this.#update;
    this.#update = null;
    const claimed = await update?.claiming.catch(() => null);
    if (update === null || claimed?.kind !== 'claimed') return;
    const object = this.#store.pullRequest(update.prHash);
    await object.release(claimed.lease).catch(() => {});
  }

  /**
   * Releases everything. May be called more than once. Never rejects.
   * @param isAnswered whether the client has the answer
   */
  async end(isAnswered: boolean): Promise<void> {
    await Promise.all([this.endUpdate(), this.#endPush(isAnswered)]);
  }

  async #endPush(isAnswered: boolean): Promise<void> {
    const push = this.#push;
    this.#push = null;
    const begun = await push?.beginning.catch(() => null);
    if (push === null || begun?.kind !== 'begun') return;
    const isOver = this.#isOver ?? isAnswered;
    const left = !isOver ? 'unanswered' : this.#hasOpened ? 'answered' : 'nothing';
    await this.#store
      .pendingPush(push.hash)
      .end(push.hash, begun.lease, left, this.#host.clock.now())
      .catch(() => {});
  }
}

export function inProgress(reason: string, advice: string): Refusal {
  return new Refusal('in-progress', reason, [advice]);
}

const SHOWN = 'The push that opened it showed the key.';
/**
 * Words for a person who lacks the pull request's key, by what it is needed for. By contract, the
 * pr_hash is enough to update, so `update` needs the key only where the operator says so.
 */
const KEY_USES = {
  withdrawal: `To withdraw a pull request, you need its key: add -o pr-key=<key>. ${SHOWN}`,
  texts: `To change title or description, you need the key of the pull request: add -o pr-key=<key>, or leave these options out. ${SHOWN}`,
  update: `This service requires the key for an update: add -o pr-key=<key>, or push without pr-hash to open a new pull request. ${SHOWN}`,
} as const;
type KeyUse = keyof typeof KEY_USES;

export function missingKey(use: KeyUse): Refusal {
  return new Refusal('pr-key', 'the pr-key is missing', [KEY_USES[use]], { needs: ['pr-key=<key>'] });
}

/**
 * Refuses a push that lacks a key, or has a wrong one.
 * @param use null: no key is needed, but a key that is given must be right
 * @throws Refusal
 */
export async function requireKey(
  { store }: PushRun,
  { prHash, prKey }: PushOptions,
  use: KeyUse | null,
): Promise<void> {
  if (prHash === null) return;
  if (prKey === null && use !== null) throw missingKey(use);
  if (prKey === null || (await store.isPrKey(prHash, prKey))) return;
  const why = `This is not the key of ${prHash}. Each pull request has its own key: use the one that was shown with this pr-hash.`;
  throw new Refusal('pr-key', 'the pr-key is wrong', [why], { needs: ['pr-key=<key>'] });
}
