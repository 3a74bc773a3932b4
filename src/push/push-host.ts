/**
 * The ports of a push, which are everything outside that it uses; and the settings of the operator
 * and of the request that decide about it.
 */
import type { Config } from '../config/config.ts';
import type { DelayedView, KeepAnswer, NewDelayedPush } from '../durable/delayed-pushes/delayed-push.ts';
import type { PendingPush } from '../durable/pending-push/pending-push.ts';
import type { PullRequest, ToldTo } from '../durable/pull-request/pull-request.ts';
import type { RecordedPullRequest } from '../durable/pull-request/record.ts';
import type { GitClient } from '../git/wire/git-client.ts';
import type { Limit } from '../limits/sliding-window.ts';
import type { Claim } from '../limits/claim.ts';
import type { CodeHost } from '../host/open.ts';
import type { PullRequestPlace, Repository } from '../host/code-host.ts';
import type { SaidWords } from '../events/hear.ts';
import type { KnownPolicy } from '../policy/policies.ts';
import type { RepositoryName } from '../words/repository-name.ts';
import type { OpenedPullRequest } from '../stats/statistics.ts';
import type { RecordedWork } from '../stats/recorded-hashes.ts';
import type { KeptSpool, PushSpool } from '../spool/spool.ts';
import type { HistoryHost } from '../upstream/upstream-refs.ts';
import type { Refusal } from './reply/refusal.ts';
import type { SameWork } from './reply/reply.ts';

/** All side effects but the answer go through these three. */
export interface PushPorts {
  readonly host: PushHost;
  readonly limits: PushLimits;
  readonly store: PushStore;
}

/** The code host, and the bot's account there. */
export interface PushHost extends HistoryHost {
  readonly repositories: CodeHost;
  /** Its part of the service's paths and records. */
  readonly hostKey: string;
  /** Names a repository as the service's records do, in lower case. */
  nameOf(repository: RepositoryName): string;
  /**
   * Opens the connection for a later step, so that the step does not wait for the handshake. Never
   * rejects.
   */
  connectAhead(step: 'push' | 'pull-request'): Promise<void>;
  /**
   * Answers the bot's name, which is the author of everything.
   * @param isQuiet whether the host is asked only if nobody has asked it for a month.
   */
  botLogin(isQuiet?: boolean): Promise<string>;
  /**
   * Answers the policy of the repository. Never rejects.
   * @param looked the repository, if it is looked up already.
   */
  policy(repository: RepositoryName, looked?: Promise<Repository>): Promise<KnownPolicy>;
  /** Answers what its maintainers have said in comments, without a question to the host. */
  said(repository: RepositoryName): Promise<Pick<SaidWords, 'stoppedAt'>>;
}

/**
 * The records of the service: of a push while it runs, of those that are published later, and of
 * pull requests.
 */
export interface PushStore {
  /**
   * Counts a push that has ended.
   * @param refusal why it was refused; null: it was accepted.
   * @param durationMs how long it took; null: that is not measured.
   */
  count(refusal: Refusal | null, durationMs: number | null): void;
  /** Opens a store for what a push sends besides its commits. */
  openSpool(): PushSpool;
  /** Computes a keyed hash: without the service's key, nobody can guess what it was made of. */
  hash(kind: 'push' | 'received' | 'work' | 'others', text: string): Promise<string>;
  /**
   * Names a push of this network that is published now.
   * @param receivedHash as `receivedHashOf` answers it.
   */
  attemptHash(receivedHash: string): Promise<string>;
  prKey(prHash: string): Promise<string>;
  /** Compares in the same time for any key. */
  isPrKey(prHash: string, key: string): Promise<boolean>;
  /**
   * The object of a push, by its hash. Like those of pull requests, it rejects if it cannot be
   * reached.
   */
  pendingPush(hash: string): Pick<PendingPush, 'begin' | 'decide' | 'end'>;
  pullRequest(prHash: string): Pick<PullRequest, 'claim' | 'look' | 'release' | 'record' | 'tellLater'>;
  /**
   * Tells of a withdrawn pull request: once, also if the host says so, too. Never rejects.
   * @param at when it was closed; '' if that is unknown.
   */
  tellWithdrawn(
    pullRequest: Pick<RecordedPullRequest, 'prHash' | 'number' | 'url'>,
    at: string,
  ): Promise<void>;
  /**
   * Finds where a pull request is; null if no push to this code host has recorded it. Wakes no
   * object for a hash that is made up.
   */
  placeOf(prHash: string): Promise<PullRequestPlace | null>;
  /**
   * Whether the pull request is open, as far as the service has heard; true also if nobody knows.
   * Never rejects.
   */
  isOpen(prHash: string): Promise<boolean>;
  /**
   * Whether a push may have recorded this pr_hash. False: none has, as far as that is listed. Never
   * rejects.
   */
  mayBeRecorded(prHash: string): Promise<boolean>;
  /**
   * Finds a pull request that has any of these works. Of at most three, those with the latest work
   * first, then those that got it first, it answers an open one, else a merged, a closed, or a
   * withdrawn one. Null: none has any, or none can be shown. Undefined: the list cannot be read.
   * Never rejects.
   * @param works for each commit, the keyed hashes under which it may be recorded.
   */
  pullRequestWith(
    repository: RepositoryName,
    works: readonly (readonly string[])[],
  ): Promise<(Omit<SameWork, 'shared'> & Pick<RecordedWork, 'last'>) | null | undefined>;
  /**
   * Finds a pull request of this code host by its hash. Null: none is recorded, the host does not
   * show it yet, or nobody knows. Never rejects.
   */
  recorded(prHash: string): Promise<Omit<SameWork, 'shared'> | null>;
  /**
   * Records the works that an update has brought. Never rejects.
   * @param works for each commit, the keyed hash that is recorded.
   * @param at milliseconds since 1970.
   */
  addWorks(prHash: string, works: readonly string[], at: number): Promise<void>;
  /**
   * The open pull request whose pr_hash is a letter or two off; null: none, or nobody knows. Never
   * rejects.
   */
  openNear(repository: RepositoryName, prHash: string): Promise<{ readonly prHash: string } | null>;
  /**
   * Whether the service has ever opened a pull request there that was not rolled back; false if
   * nobody knows, so that the operator sees it.
   */
  isKnownRepository(repository: RepositoryName): Promise<boolean>;
  /**
   * Finds the same push while it waits and nothing of it is public.
   * @param push as `NewDelayedPush` has it.
   */
  findWaiting(push: string): Promise<DelayedView | null>;
  /**
   * Tells the operator that the clocks of service and host differ.
   * @param byMs as the alert has it.
   */
  tellClock(byMs: number | null): void;
  /**
   * Keeps a push that is published later.
   * @param keptUntil how long spool and key are there.
   * @returns `found`: the same push waits; nothing is kept.
   */
  keepDelayed(
    delayed: Omit<NewDelayedPush, 'dueAt' | 'spool' | 'client' | 'host'>,
    spool: KeptSpool,
    keptUntil: number,
  ): Promise<KeepAnswer>;
}

/**
 * Whether a push is accepted (contract, 4.6): before its pack is read, the panic switch and the
 * limit of pushes; before the first write at the host, a slot of its address, and what is left to
 * the repository and to the bot account.
 *
 * Fails closed: without the panic switch and the limits, an anonymous service could be flooded.
 */
export interface PushLimits {
  /**
   * Counts a push attempt that is not known to be over a limit, before anything else. Answers why
   * pushes are refused now, or null. Never rejects.
   * @param isWithdrawal whether it withdraws a pull request. That is allowed, however many requests
   * its client has caused.
   * @param opens whether it can only open a pull request. If its network has no room for one, it
   * learns nothing else, not even that the same push was made before.
   * @param patience what the push can wait for. `delay`: a pause of the code host does not matter
   * now. `wait`: nor does the limit of its network.
   */
  enter(isWithdrawal: boolean, opens: boolean, patience?: 'none' | 'delay' | 'wait'): Promise<Refusal | null>;
  /**
   * Refuses a push that fails for another reason if its client is over the limit of pull requests.
   * Null: it is not, or nobody knows. Never rejects.
   * @param slotHash as for `slot`, if the push can only open a pull request.
   */
  refuseFull(slotHash?: () => Promise<string>): Promise<Refusal | null>;
  /** Says why panic refuses a push that was let in before; null: there is none. Never rejects. */
  suspension(): Promise<Refusal | null>;
  /**
   * Answers the slot of the pull request that the push opens. Takes nothing yet.
   * @param slotHash the hash that retries of the push share.
   * @throws Refusal
   */
  slot(slotHash: string): Promise<Slot>;
  /**
   * Says why the client's own limits would refuse a slot now; null: they would not. Takes and
   * counts nothing. Never rejects.
   */
  peek(): Promise<Refusal | null>;
  /**
   * Takes a write in the name of the bot account that creates nothing, before the first write at
   * the host.
   * @throws Refusal while the host asks for a pause, or if other clients come first.
   */
  takeQuota(): Promise<void>;
  /**
   * Takes what a fork costs, which counts as something created, whatever becomes of the push: once
   * for a network and a repository, as long as that counts; for a delayed push, each time.
   * @throws Refusal
   */
  takeFork(repository: RepositoryName): Promise<void>;
}

/**
 * The place of one pull request in the limit of its client's address. It stays taken if nobody
 * knows whether the pull request was opened.
 */
export interface Slot {
  /**
   * Takes the slot, one creation of the bot account and one pull request of the repository: all or
   * nothing, before the first write.
   * @param policyLimits those that the repository's policy sets.
   * @throws Refusal
   */
  take(repository: RepositoryName, policyLimits: readonly Limit[]): Promise<void>;
  /**
   * Takes the slot alone: the pull request is opened later, or has begun, and no other attempt
   * runs.
   * @param isAnother whether it needs one of its own, even if an earlier attempt has one.
   * @throws Refusal
   */
  settle(isAnother: boolean): Promise<void>;
  /**
   * Tells the guard and the statistics that the pull request is open. Answers who could not be
   * told. Never rejects.
   */
  opened(
    pullRequest: OpenedPullRequest & { readonly number: number; readonly app?: number },
  ): Promise<readonly ToldTo[]>;
  /** The part of its claim on the network's limits that is not granted; null: all of it is. */
  owed(): Claim | null;
  /**
   * Gives the slot back, because no pull request was opened. Never rejects; a second call does
   * nothing.
   */
  release(): Promise<void>;
}

/** An address that takes a push as a file, with the push options behind it. */
export interface PostDoor {
  readonly name: 'bundle' | 'patch';
  /** Options that it has used itself, so that the push has none of them: the message of a diff. */
  readonly used: readonly string[];
}

/** Decisions of the operator and of the request about a push. */
export interface PushSettings extends Pick<
  Config,
  | 'anonEmail'
  | 'identityCheck'
  | 'maxRepositoryMb'
  | 'prUpdatePolicy'
  | 'publishDelayMs'
  | 'pushDoubles'
  | 'pushSecrets'
  | 'review'
  | 'signingKey'
  | 'whenBusy'
  | 'writeTimeoutMs'
> {
  /** The person's Git client. */
  readonly client: GitClient;
  /** Whether a page of another site pushes, as `Scope.isForeign` has it. */
  readonly isForeign: boolean;
  /** The way in which the push came, for the commands in messages. */
  readonly door: 'git' | PostDoor;
  /** The end of a pull request's text, if the repository's policy asks for it. */
  readonly pullRequestFooter: string;
  readonly hostUrl: string;
  /** The address to push to, for the commands in messages. */
  remoteUrl(repository: RepositoryName): string;
  /** The same address in the form that may be published. */
  publishedUrl(repository: RepositoryName): string;
  /** The address of a file at the code host. */
  fileUrl(repository: RepositoryName, path: string): string;
  issueFormUrl(repository: RepositoryName): string;
  /** The address where people subscribe to the topic of a pull request. */
  topicUrl(prHash: string): string;
  /** The page of a pull request. */
  pageUrl(prHash: string): string;
  /** The page of a delayed push. */
  delayedUrl(name: string): string;
  newPrHash(): string;
  /** Answers 128 bits in hex that nobody can guess. */
  newDelayedName(): string;
}
