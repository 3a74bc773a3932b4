/**
 * Act three: from the verdict to the pull request. Limits and lock come first, in `enter`; then only the host refuses.
 * A repeated push continues where the earlier attempt stopped, and never opens a second pull request.
 */
import type { PushIntent } from '../../durable/pending-push/pending-push.ts';
import { type Dates, datesOf, undatedOf } from '../../durable/pull-request/record.ts';
import { AnonymousCommits } from '../../git/objects/anonymize.ts';
import type { Identity } from '../../git/objects/commit.ts';
import type { Oid } from '../../git/objects/oid.ts';
import { outgoingPack } from '../../git/pack/outgoing-pack.ts';
import type { PullRequest } from '../../host/code-host.ts';
import { Recent } from '../../isolate/recent.ts';
import { repositoryKey, type RepositoryName } from '../../repository-name.ts';
import { namedText, wholeText } from '../../text/pull-request-text.ts';
import { findPullRequest } from '../judge/questions.ts';
import type { Slot, PushHost } from '../push-host.ts';
import type { ClaimedUpdate, PushRun } from '../push-run.ts';
import type { SameWork } from '../reply/reply.ts';
import { findSameWork, proposedBefore, tellSameWork, worksOf } from '../same-work.ts';
import { isUpdate, type Publishable } from '../verdict.ts';
import { AgitDelivery } from './agit.ts';
import type { Proposal } from './delivery.ts';
import { ForkDelivery } from './from-fork.ts';

export interface Publication {
  readonly push: Publishable;
  /** The entries of its pack. */
  readonly spool: { read(): AsyncIterable<Uint8Array> };
  /** The same for a push that is repeated. */
  readonly pushHash: string;
  readonly claim: ClaimedUpdate | null;
  /** Of the pull request that it opens; null: it opens none. */
  readonly slot: Slot | null;
  /** Set for a push that was delayed: earlier attempts may have stopped at any point, and long ago. */
  readonly resumed?: Resumed;
}

export interface Resumed {
  /** Where the branch of a named pull request was when the push was judged. The branch is moved only from there. */
  readonly tip: Oid | null;
  /** Call it before anything becomes public. @throws Refusal if the push was ended, or the service is suspended */
  readonly mayGoOn: () => Promise<void>;
  /** What the first attempt has decided; this one if it is the first. @throws Refusal if the push was ended */
  readonly begin: (proposed: PushIntent) => Promise<PushIntent>;
  /** An earlier attempt has decided otherwise than was proposed. */
  readonly keepTo: (intent: PushIntent) => Promise<void>;
}

/** A push that may be published: nothing has been written at the host yet. */
export type Entered = Awaited<ReturnType<typeof enter>>;
export type Published = Awaited<ReturnType<typeof publish>>;

/**
 * Takes what the limits leave, and begins, both at once. A delayed push begins only once it has its slot, and keeps the
 * date of that moment. @throws Refusal if it has to wait
 */
export async function enter(run: PushRun, publication: Publication) {
  const { slot, push, resumed } = publication;
  const { repositories } = run.host;
  const delivery =
    repositories.way === 'fork'
      ? new ForkDelivery(run, repositories, push)
      : new AgitDelivery(run, repositories, push);
  const taking = slot === null ? run.limits.takeQuota() : slot.take(push.repository, push.policyLimits);
  const comparing = compare(run, push);
  const beginning = delivery.isReady && resumed === undefined ? begin(run, publication, comparing) : null;
  const [taken] = await Promise.allSettled([taking, comparing, beginning]);
  if (taken.status === 'rejected') throw taken.reason;
  // Without an attempt, something has to be made first, which may take long, and the date must be set after it.
  return { delivery, attempt: await beginning, compared: await comparing };
}

/** @throws Refusal */
export async function publish(
  run: PushRun,
  publication: Publication,
  { delivery, attempt: begun, compared }: Entered,
) {
  const { push, resumed } = publication;
  try {
    if (compared.found === null) await run.tell();
    if (begun === null) await delivery.prepare();
    const attempt = begun ?? (await begin(run, publication, compared));
    // An earlier attempt that was answered, or whose pull request is closed, has its own slot: this one opens another.
    const isAnother = !attempt.isRepeated || attempt.earlier?.isOpen === false;
    if (resumed === undefined) await publication.slot?.settle(isAnother);
    const { prHash, botLogin: author, same } = attempt;
    // Who names a pull request without its key is not shown it.
    const key = prHash !== push.prHash || push.hasKey ? await run.store.prKey(prHash) : null;
    const withdrawal = ` Withdraw this one with -o withdraw -o pr-hash=${prHash} -o pr-key=${key}.`;
    // Now the pull request has its slot, so that what is told of it comes true.
    if (same !== null) await tellSameWork(run, push, same, { more: key === null ? '' : withdrawal });
    await run.tell();
    if (begun !== null) await delivery.prepare();
    // Whatever has become of it since: what a maintainer has closed must not come again by itself.
    const opened = resumed !== undefined && push.named === null ? attempt.earlier : null;
    if (opened === null) await attempt.mayGoOn();
    const pullRequest = opened ?? (await delivery.deliver(attempt));
    pushedTo.set(repositoryKey(run.host.transport.hostName, push.repository), true);
    const newRemarks = await record(run, publication, pullRequest, attempt);
    return { prHash, key, pullRequest, author, newRemarks };
  } catch (error) {
    delivery.failed();
    throw error;
  }
}

/**
 * An update may open another pull request if its own was closed meanwhile (AGit flow). That takes a slot, but is open
 * already, whatever the limits say. Null: it has opened none.
 */
async function slotOfAnother(
  { limits }: PushRun,
  { push, pushHash }: Publication,
  { number }: PullRequest,
): Promise<Slot | null> {
  if (!isUpdate(push) || push.named?.pullRequest.number === number) return null;
  const slot = await limits.slot(pushHash).catch(() => null);
  await slot?.take(push.repository, push.policyLimits).catch(() => {});
  await slot?.settle(true).catch(() => {});
  return slot;
}

/** Repositories in which this isolate has opened or updated a pull request. */
const pushedTo = new Recent<true>({ most: 1_000 });

export function wasPushedTo({ transport }: PushHost, repository: RepositoryName): boolean {
  return pushedTo.get(repositoryKey(transport.hostName, repository)) !== null;
}

interface Attempt extends Proposal {
  readonly dates: Dates;
  readonly works: readonly string[];
  /** Another pull request that has some of its commits; null: none is to be told. */
  readonly same: SameWork | null;
}

type Compared = Awaited<ReturnType<typeof compare>>;

/** What the push has in common with other pull requests. An update is not compared. */
async function compare(run: PushRun, push: Publishable) {
  const undated = undatedOf(push.commits, await identityOf(run));
  const works = await worksOf(run, push, undated());
  return { undated, works, found: isUpdate(push) ? null : await findSameWork(run, push, works) };
}

/** From here on, a retry uses the same hash and the same date, which is set before anything is sent. */
async function begin(
  run: PushRun,
  publication: Publication,
  comparing: Compared | Promise<Compared>,
): Promise<Attempt> {
  const { push, spool, pushHash, claim, resumed } = publication;
  const { host, store, settings, claims } = run;
  const identity = await identityOf(run);
  const own = { prHash: settings.newPrHash(), committedAt: Math.floor(host.clock.now() / 1000) };
  const proposed = (await resumed?.begin(own)) ?? own;
  const [begun, { undated, works, found }] = await Promise.all([
    claims.begin(pushHash, push.repository, proposed),
    comparing,
  ]);
  const intent = begun.intent ?? proposed;
  if (intent.prHash !== proposed.prHash) await resumed?.keepTo(intent);
  const isRepeated = begun.isRepeated || resumed !== undefined;
  const prHash = push.named?.prHash ?? intent.prHash;
  const mayBeOpen = isRepeated && push.named === null;
  const recorded = mayBeOpen ? await store.placeOf(prHash) : null;
  const earlier = mayBeOpen
    ? await findPullRequest(run, push.repository, identity.name, prHash, recorded)
    : null;
  const dates = datesOf(undated, claim?.dates ?? [], intent.committedAt);
  const anonymous = new AnonymousCommits(push.commits, identity, dates.dateOf);
  if (resumed !== undefined && found !== null && found.prHash !== prHash) {
    const isStrict = settings.pushDoubles === 'refuse' && found.state === 'open';
    if (isStrict || found.shared === push.commits.length) throw proposedBefore(found);
  }
  return {
    prHash,
    botLogin: identity.name,
    anonymous,
    pack: () => outgoingPack(anonymous.size, anonymous.contents(), push.entryCount, spool.read()),
    onlyFrom: resumed?.tip ?? null,
    mayGoOn: async () => resumed?.mayGoOn(),
    isRepeated,
    earlier,
    dates,
    works,
    // A retry continues its own pull request, so there is nothing to warn of.
    same: isRepeated ? null : found,
  };
}

/** The author of what leaves. */
async function identityOf({ host, settings }: PushRun): Promise<Identity> {
  return { name: await host.botLogin(), email: settings.anonEmail };
}

/** Records the open pull request. If that fails, a retry records it. Returns as `PullRequest.record`. */
async function record(
  run: PushRun,
  publication: Publication,
  pullRequest: PullRequest,
  { prHash, anonymous, dates, works }: Attempt,
): Promise<number> {
  const { host, store, claims, reply, logger } = run;
  const { push, claim } = publication;
  const { owner, name: repo } = push.repository;
  const { number, url, fork, id } = pullRequest;
  const known = { prHash, host: host.hostKey, owner, repo, number, url, ...(id !== undefined && { id }) };
  // Null: an update leaves it as it was.
  const { title } = isUpdate(push) ? namedText(push, anonymous) : wholeText(push, anonymous);
  const facts = { ...known, fork, ...(title !== null && { title }) };
  const pushed = { tip: anonymous.tip, dates: dates.added(), lease: claim?.lease ?? null };
  const slot = publication.slot ?? (await slotOfAnother(run, publication, pullRequest));
  const object = store.pullRequest(prHash);
  const at = host.clock.now();
  const [recorded, left] = await Promise.all([
    object.record(facts, pushed, at).then(
      (newRemarks) => ({ newRemarks }),
      (error: unknown) => ({ error }),
    ),
    slot?.opened({ ...known, openedAt: at, works }) ?? [],
    push.named !== null && store.addWorks(prHash, works),
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
