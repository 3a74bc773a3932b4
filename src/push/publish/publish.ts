/**
 * Act three: from the verdict to the pull request. Whether a push is published while its person
 * waits or after a delay is known to its `Attempt` alone. A repeated push continues where the
 * earlier attempt stopped, and opens no second pull request while the first is open.
 * Proved by test/e2e/push/pr-repeat.test.ts and test/e2e/push/pr-kill.test.ts.
 */
import type { PushIntent } from '../../durable/pending-push/pending-push.ts';
import { type Dates, datesOf } from '../../durable/pull-request/record.ts';
import { AnonymousCommits } from '../../git/objects/anonymize.ts';
import type { CommitIdentity } from '../../git/objects/commit.ts';
import type { Oid } from '../../git/objects/oid.ts';
import { outgoingPack } from '../../git/pack/outgoing-pack.ts';
import type { HostPullRequest } from '../../host/code-host.ts';
import { Recent } from '../../isolate/recent.ts';
import type { CommitChanges } from '../../text/commit-changes.ts';
import { repositoryKey, type RepositoryName } from '../../words/repository-name.ts';
import { pushedText } from '../../text/pull-request-text.ts';
import { findPullRequest } from '../judge/questions.ts';
import type { Slot, PushHost } from '../push-host.ts';
import type { ClaimedUpdate, PushRun } from '../push-run.ts';
import { compareWork, type Compared } from '../same-work.ts';
import { isUpdate, type Publishable } from '../verdict.ts';
import { AgitDelivery } from './agit.ts';
import type { Delivery, Proposal } from './delivery.ts';
import { ForkDelivery } from './from-fork.ts';

export interface Publication {
  readonly push: Publishable;
  /** Holds the entries of its pack. */
  readonly spool: { read(): AsyncIterable<Uint8Array> };
  /** Names the push. A push that is made again has the same. */
  readonly pushHash: string;
  readonly claim: ClaimedUpdate | null;
  /** Finds the changes of an update that these commits make; null: nobody knows, or it is none. */
  readonly changes: (leaving: AnonymousCommits) => Promise<CommitChanges | null>;
  /** The pull request with its commits that judging has found; null: none was looked for. */
  readonly compared: Compared | null;
  /** Counts the pull request that it opens; null: it opens none. */
  readonly slot: Slot | null;
}

/**
 * One attempt to publish a push: while its person waits for the answer
 * (push/publish/live-attempt.ts), or after a delay (push/delay/delayed-attempt.ts).
 */
export interface Attempt {
  /** The only commit from which the branch may be moved; null: it may be moved from any. */
  readonly onlyFrom: Oid | null;
  /**
   * Decides hash and date, or finds those of the first attempt, and makes the fork ready.
   * @throws Refusal
   */
  begin(delivery: Delivery, compared: Compared): Promise<Begun>;
  /**
   * Allows a step that makes something public. A live push is always allowed to go on, because it
   * was checked when it was let in.
   * @throws Refusal if a delayed push was ended, or the service is suspended
   */
  mayGoOn(): Promise<void>;
  /** Finds the pull request of an earlier attempt, if nothing more is to be sent; null: send. */
  finished(begun: Begun): HostPullRequest | null;
  /** Notes that the pull request is open. */
  opened(): void;
}

/** The decisions of the first attempt, and what is known of it. */
export interface Begun extends PushIntent, Pick<Proposal, 'isRepeated' | 'earlier'> {
  /** The key that is shown to the person; null: they may not have it. */
  readonly key: string | null;
}

/** A push that may be published: nothing has been written at the host yet. */
export interface Entered {
  readonly publication: Publication;
  readonly delivery: Delivery;
  readonly compared: Compared;
  readonly attempt: Attempt;
}

export type Published = Awaited<ReturnType<typeof publish>>;

/**
 * Takes what the limits leave, and compares the push with other pull requests, again if it was
 * judged before: others may have opened one since.
 * @throws Refusal
 */
export async function enter(run: PushRun, publication: Publication): Promise<Omit<Entered, 'attempt'>> {
  const { slot, push } = publication;
  const { repositories } = run.host;
  const taking = slot === null ? run.limits.takeQuota() : slot.take(push.repository, push.policyLimits);
  const comparing = identityOf(run).then((bot) => {
    const where = { repository: push.repository, bot, updates: isUpdate(push), boundaryTree: null };
    return compareWork(run, push, where, publication.compared);
  });
  const [taken] = await Promise.allSettled([taking, comparing]);
  if (taken.status === 'rejected') throw taken.reason;
  const delivery =
    repositories.flow === 'fork'
      ? new ForkDelivery(run, repositories, push)
      : new AgitDelivery(run, repositories, push);
  return { publication, delivery, compared: await comparing };
}

/**
 * Publishes a push that has entered.
 * @throws Refusal
 */
export async function publish(run: PushRun, { publication, delivery, compared, attempt }: Entered) {
  const { push } = publication;
  try {
    const begun = await attempt.begin(delivery, compared);
    const proposal = await proposalOf(run, publication, attempt, begun, compared);
    const pullRequest = attempt.finished(begun) ?? (await deliver(delivery, proposal));
    pushedTo.set(repositoryKey(run.host.transport.hostName, push.repository), true);
    attempt.opened();
    const newRemarks = await record(run, publication, pullRequest, proposal);
    const { prHash, key, isRepeated } = begun;
    return {
      prHash,
      key,
      isRepeated,
      isUnchanged: isUpdate(push) && push.named?.tip === proposal.anonymous.tip,
      hasEdited: delivery.hasEdited,
      isDouble: !isRepeated && compared.found?.state === 'open',
      pullRequest,
      author: pullRequest.app?.login ?? proposal.botLogin,
      newRemarks,
    };
  } catch (error) {
    delivery.failed();
    throw error;
  }
}

async function deliver(delivery: Delivery, proposal: Proposal): Promise<HostPullRequest> {
  await proposal.mayGoOn();
  return delivery.deliver(proposal);
}

/** Repositories in which this isolate has opened or updated a pull request. */
const pushedTo = new Recent<true>({ most: 1_000 });

export function wasPushedTo({ transport }: PushHost, repository: RepositoryName): boolean {
  return pushedTo.get(repositoryKey(transport.hostName, repository)) !== null;
}

/** Draws a hash, and takes this second as the date of the commits. */
export function newIntent({ host, settings }: PushRun): PushIntent {
  return { prHash: settings.newPrHash(), committedAt: secondOf(host.clock.now()) };
}

export const secondOf = (at: number): number => Math.floor(at / 1000);

/** Finds what an earlier attempt has opened; null: nothing, or the push names a pull request. */
export async function openedEarlier(
  run: PushRun,
  { named, repository }: Publishable,
  prHash: string,
): Promise<HostPullRequest | null> {
  if (named !== null) return null;
  const [recorded, { name }] = await Promise.all([run.store.placeOf(prHash), identityOf(run)]);
  return findPullRequest(run, repository, name, prHash, recorded);
}

interface DatedProposal extends Proposal {
  readonly dates: Dates;
  /** As `Publication.changes` answers. */
  readonly changes: CommitChanges | null;
  /** The keyed hashes of the commits, to be recorded. */
  readonly works: readonly string[];
}

async function proposalOf(
  run: PushRun,
  { push, spool, claim, changes }: Publication,
  attempt: Attempt,
  begun: Begun,
  { undated, works }: Compared,
): Promise<DatedProposal> {
  const identity = await identityOf(run);
  const dates = datesOf(undated, claim?.dates ?? [], begun.committedAt);
  const { settings, host } = run;
  const { signingKey } = settings;
  const anonymous = await AnonymousCommits.make(
    push.commits,
    identity,
    dates.dateOf,
    signingKey,
    host.memory,
  );
  return {
    ...begun,
    botLogin: identity.name,
    anonymous,
    pack: () => outgoingPack(anonymous.objectCount, anonymous.contents(), push.entryCount, spool.read()),
    onlyFrom: attempt.onlyFrom,
    mayGoOn: () => attempt.mayGoOn(),
    dates,
    changes: await changes(anonymous),
    works: works.flatMap(([recorded = []]) => recorded),
  };
}

/** Names the author of what leaves: the bot. */
async function identityOf({ host, settings }: PushRun): Promise<CommitIdentity> {
  return { name: await host.botLogin(), email: settings.anonEmail };
}

/**
 * Records the open pull request. If that fails, a retry records it.
 * @returns as `PullRequest.record`
 */
async function record(
  run: PushRun,
  publication: Publication,
  pullRequest: HostPullRequest,
  { prHash, anonymous, dates, changes, works }: DatedProposal,
): Promise<number> {
  const { host, store, claims, reply, logger } = run;
  const { push, claim } = publication;
  const { owner, name: repo } = push.repository;
  const { number, url, fork, id, app } = pullRequest;
  const place = { prHash, host: host.hostKey, owner, repo, number, url };
  const known = { ...place, ...(id !== undefined && { id }), ...(app !== undefined && { app: app.number }) };
  // Null: an update leaves the title as it was.
  const { title } = pushedText(push, anonymous, isUpdate(push));
  const facts = { ...known, fork, ...(title !== null && { title }) };
  const { id: repositoryId } = push.repository;
  const pushed = {
    tip: anonymous.tip,
    dates: dates.added(),
    lease: claim?.lease ?? null,
    repositoryId,
    ...(changes !== null && { commits: changes.counts }),
  };
  const slot = publication.slot ?? (await slotOfAnother(run, publication, pullRequest));
  const object = store.pullRequest(prHash);
  const at = host.clock.now();
  const [recorded, left] = await Promise.all([
    object.record(facts, pushed, at).then(
      (newRemarks) => ({ newRemarks }),
      (error: unknown) => ({ error }),
    ),
    slot?.opened({ ...known, openedAt: at, works }) ?? [],
    push.named !== null && store.addWorks(prHash, works, at),
  ]);
  try {
    if ('error' in recorded) throw recorded.error;
    if (left.length > 0) await object.tellLater(left, at, works);
    return recorded.newRemarks;
  } catch (error) {
    claims.failed(true);
    logger.error('a pull request could not be recorded', { error });
    await reply.note('The service could not record it yet. Push the same commits again within the hour.');
    return 0;
  }
}

/**
 * Takes a slot for an update that has opened another pull request, because its own was closed
 * meanwhile (AGit flow). It is open already, whatever the limits say. Null: it has opened none, or
 * its client is not known.
 */
async function slotOfAnother(
  { limits }: PushRun,
  { push, pushHash }: Publication,
  { number }: HostPullRequest,
): Promise<Slot | null> {
  if (!isUpdate(push) || push.named?.pullRequest.number === number) return null;
  // It is open already: a count that fails must not make a published push a failed one.
  const slot = await limits.slot(pushHash).catch(() => null);
  await slot?.take(push.repository, push.policyLimits).catch(() => {});
  await slot?.settle(true).catch(() => {});
  return slot;
}
