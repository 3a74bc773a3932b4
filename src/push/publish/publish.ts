/**
 * Act three: from the verdict to the pull request. Limits and lock come first, in `enter`; then
 * only the host refuses. A repeated push continues where the earlier attempt stopped, and never
 * opens a second pull request.
 * Proved by test/e2e/push/pr-repeat.test.ts and test/e2e/push/pr-kill.test.ts.
 */
import type { PushIntent } from '../../durable/pending-push/pending-push.ts';
import { type Dates, datesOf, undatedOf } from '../../durable/pull-request/record.ts';
import { AnonymousCommits } from '../../git/objects/anonymize.ts';
import type { CommitIdentity } from '../../git/objects/commit.ts';
import type { Oid } from '../../git/objects/oid.ts';
import { outgoingPack } from '../../git/pack/outgoing-pack.ts';
import type { PullRequest } from '../../host/code-host.ts';
import { Recent } from '../../isolate/recent.ts';
import { repositoryKey, type RepositoryName } from '../../words/repository-name.ts';
import { namedText, wholeText } from '../../text/pull-request-text.ts';
import { findPullRequest } from '../judge/questions.ts';
import type { Slot, PushHost } from '../push-host.ts';
import type { ClaimedUpdate, PushRun } from '../push-run.ts';
import { keyLines } from '../reply/banner.ts';
import { findSameWork, proposedBefore, tellSameWork, worksOf } from '../same-work.ts';
import { isUpdate, type Publishable } from '../verdict.ts';
import { AgitDelivery } from './agit.ts';
import type { Proposal } from './delivery.ts';
import { ForkDelivery } from './from-fork.ts';

export interface Publication {
  readonly push: Publishable;
  /** The entries of its pack. */
  readonly spool: { read(): AsyncIterable<Uint8Array> };
  /** The same for a push that is made again. */
  readonly pushHash: string;
  readonly claim: ClaimedUpdate | null;
  /** Of the pull request that it opens; null: it opens none. */
  readonly slot: Slot | null;
  /**
   * Set for a push that was delayed: earlier attempts may have stopped at any point, and long ago.
   */
  readonly resumed?: Resumed;
}

export interface Resumed {
  /**
   * Where the branch of a named pull request was when the push was judged. The branch is moved only
   * from there.
   */
  readonly tip: Oid | null;
  /** What an earlier attempt has decided; null: none has begun. */
  readonly intent: PushIntent | null;
  /**
   * Call it before anything becomes public.
   * @throws Refusal if the push was ended, or the service is suspended
   */
  readonly mayGoOn: () => Promise<void>;
  /**
   * What the first attempt has decided; this one if it is the first.
   * @throws Refusal if the push was ended
   */
  readonly begin: (proposed: PushIntent) => Promise<PushIntent>;
  /** An earlier attempt has decided otherwise than was proposed. */
  readonly keepTo: (intent: PushIntent) => Promise<void>;
}

/** A push that may be published: nothing has been written at the host yet. */
export type Entered = Awaited<ReturnType<typeof enter>>;
export type Published = Awaited<ReturnType<typeof publish>>;

/**
 * Takes what the limits leave, and begins, both at once. A delayed push begins only once it has its
 * slot, and keeps the date of that moment.
 * @throws Refusal if it has to wait
 */
export async function enter(run: PushRun, publication: Publication) {
  const { slot, push, resumed } = publication;
  const { repositories } = run.host;
  const delivery =
    repositories.way === 'fork'
      ? new ForkDelivery(run, repositories, push)
      : new AgitDelivery(run, repositories, push);
  const { isReady } = delivery;
  const taking = slot === null ? run.limits.takeQuota() : slot.take(push.repository, push.policyLimits);
  const comparing = compare(run, push);
  const beginning = resumed === undefined ? begin(run, publication) : null;
  const [taken] = await Promise.allSettled([taking, comparing, beginning]);
  if (taken.status === 'rejected') throw taken.reason;
  return { delivery, isReady, begun: await beginning, compared: await comparing };
}

/** @throws Refusal */
export async function publish(
  run: PushRun,
  publication: Publication,
  { delivery, isReady, begun: before, compared }: Entered,
) {
  const { push, resumed } = publication;
  try {
    if (resumed !== undefined) {
      // What is refused must not have made a fork.
      refuseProposed(run, push, resumed, compared);
      await resumed.mayGoOn();
      await delivery.prepare();
    }
    const begun = before ?? (await begin(run, publication));
    const { prHash, earlier, isRepeated, isAnswered } = begun;
    // An earlier attempt that was answered, or whose pull request is closed, has its own slot: this
    // one opens another.
    const isAnother = !isRepeated || isAnswered || earlier?.isOpen === false;
    if (resumed === undefined) await publication.slot?.settle(isAnother);
    // It is open already: a guess must cost a slot until it is known to be right.
    if (isAnswered) await publication.slot?.release();
    const key = await keyFor(run, publication, begun);
    // Now the pull request has its slot, so that what is told of it comes true.
    await tellFirst(run, publication, begun, compared, key);
    if (resumed === undefined) await delivery.prepare();
    // What was made first may have taken long.
    const committedAt = isReady || isRepeated ? begun.committedAt : await decideDate(run, prHash);
    const attempt = attemptOf(run, publication, { ...begun, committedAt }, compared);
    // Whatever has become of it since: what a maintainer has closed must not come again by itself.
    const opened = resumed !== undefined && push.named === null ? earlier : null;
    if (opened === null) await attempt.mayGoOn();
    const pullRequest = opened ?? (await delivery.deliver(attempt));
    pushedTo.set(repositoryKey(run.host.transport.hostName, push.repository), true);
    const newRemarks = await record(run, publication, pullRequest, attempt);
    const { anonymous, botLogin: author } = attempt;
    const isUnchanged = isUpdate(push) && push.named?.tip === anonymous.tip;
    const isDouble = !isRepeated && compared.found?.state === 'open';
    const { hasEdited } = delivery;
    return { prHash, key, isRepeated, isUnchanged, hasEdited, isDouble, pullRequest, author, newRemarks };
  } catch (error) {
    delivery.failed();
    throw error;
  }
}

/**
 * Answers the key of a hash that this push has chosen, or has named with its key; null: it may not
 * have it. A push that is made again may be somebody's guess, and the first one was told the key.
 */
async function keyFor(
  { store }: PushRun,
  { push, resumed }: Publication,
  { prHash, isOwn }: Begun,
): Promise<string | null> {
  const isTheirs = prHash === push.prHash ? push.hasKey : isOwn || resumed !== undefined;
  return isTheirs ? store.prKey(prHash) : null;
}

/**
 * Tells hash and key before anything is published, so that whoever loses the end of the answer has
 * them; then what warns.
 * @throws Refusal if the operator wants no doubles
 */
async function tellFirst(
  run: PushRun,
  { push, resumed }: Publication,
  { prHash, isRepeated, isAnswered }: Begun,
  { found }: Compared,
  key: string | null,
): Promise<void> {
  const { reply, settings } = run;
  // Where doubles are refused, a wrong guess costs nothing: so a right one is refused, too.
  const isGuessable = isAnswered && settings.pushDoubles === 'refuse';
  // Whoever repeats a push continues its own pull request, so there is nothing to warn of.
  const same = isRepeated && !isGuessable ? null : found;
  const isDouble = same?.state === 'open' && settings.pushDoubles === 'refuse';
  if (resumed === undefined && key !== null && prHash !== push.prHash && !isDouble)
    await reply.noteSecret(...keyLines(prHash, key));
  if (same !== null) await tellSameWork(run, push, same);
  await run.tell();
}

/**
 * An update may open another pull request if its own was closed meanwhile (AGit flow). That takes a
 * slot, but is open already, whatever the limits say. Null: it has opened none.
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

/** What the first attempt has decided, and what is known of it. */
interface Begun extends PushIntent, Pick<Proposal, 'isRepeated' | 'earlier' | 'botLogin'> {
  /** Whether an earlier attempt has opened its pull request, and was answered. */
  readonly isAnswered: boolean;
  /** Whether the hash is the one that this push has chosen. A form chooses the same each time. */
  readonly isOwn: boolean;
}

interface Attempt extends Proposal {
  readonly dates: Dates;
  readonly works: readonly string[];
}

type Compared = Awaited<ReturnType<typeof compare>>;

/** What the push has in common with other pull requests. An update is not compared. */
async function compare(run: PushRun, push: Publishable) {
  const undated = undatedOf(push.commits, await identityOf(run));
  const works = await worksOf(run, push, undated());
  return { undated, works, found: isUpdate(push) ? null : await findSameWork(run, push, works) };
}

/**
 * From here on, a retry uses the same hash, and the same date once that is decided.
 * @throws Refusal
 */
async function begin(run: PushRun, { push, pushHash, resumed }: Publication): Promise<Begun> {
  const { host, store, settings, claims } = run;
  const { name: botLogin } = await identityOf(run);
  const own = { prHash: settings.newPrHash(), committedAt: secondOf(host.clock.now()) };
  const proposed = (await resumed?.begin(own)) ?? own;
  const begun = await claims.begin(pushHash, push.repository, proposed);
  const intent = begun.intent ?? proposed;
  if (intent.prHash !== proposed.prHash) await resumed?.keepTo(intent);
  const isRepeated = begun.isRepeated || resumed !== undefined;
  const mayBeOpen = isRepeated && push.named === null;
  const recorded = mayBeOpen ? await store.placeOf(intent.prHash) : null;
  const earlier = mayBeOpen
    ? await findPullRequest(run, push.repository, botLogin, intent.prHash, recorded)
    : null;
  const named = push.named && { prHash: push.named.prHash };
  // What was closed since its answer may come again, as another one.
  if (begun.isAnswered && earlier?.isOpen !== true) {
    await claims.decide(own);
    return { ...own, ...named, botLogin, isOwn: true, isRepeated: false, isAnswered: false, earlier: null };
  }
  const isOwn = intent.prHash === own.prHash;
  return { ...intent, ...named, botLogin, isOwn, isRepeated, isAnswered: begun.isAnswered, earlier };
}

/** @throws Refusal if another pull request has the commits of a push that was delayed */
function refuseProposed(
  { settings }: PushRun,
  { commits }: Publishable,
  { intent }: Resumed,
  { found }: Compared,
): void {
  if (found === null || found.prHash === intent?.prHash) return;
  const isStrict = settings.pushDoubles === 'refuse' && found.state === 'open';
  if (isStrict || found.shared === commits.length) throw proposedBefore(found);
}

/** The second before the first byte is sent. */
async function decideDate({ host, claims }: PushRun, prHash: string): Promise<number> {
  const committedAt = secondOf(host.clock.now());
  await claims.decide({ prHash, committedAt });
  return committedAt;
}

const secondOf = (at: number): number => Math.floor(at / 1000);

function attemptOf(
  { settings }: PushRun,
  { push, spool, claim, resumed }: Publication,
  begun: Begun,
  { undated, works }: Compared,
): Attempt {
  const { committedAt, botLogin } = begun;
  const identity = { name: botLogin, email: settings.anonEmail };
  const dates = datesOf(undated, claim?.dates ?? [], committedAt);
  const anonymous = new AnonymousCommits(push.commits, identity, dates.dateOf);
  return {
    ...begun,
    anonymous,
    pack: () => outgoingPack(anonymous.objectCount, anonymous.contents(), push.entryCount, spool.read()),
    onlyFrom: resumed?.tip ?? null,
    mayGoOn: async () => resumed?.mayGoOn(),
    dates,
    works,
  };
}

/** The author of what leaves. */
async function identityOf({ host, settings }: PushRun): Promise<CommitIdentity> {
  return { name: await host.botLogin(), email: settings.anonEmail };
}

/**
 * Records the open pull request. If that fails, a retry records it. Returns as
 * `PullRequest.record`.
 */
async function record(
  run: PushRun,
  publication: Publication,
  pullRequest: PullRequest,
  { prHash, anonymous, dates, works }: Attempt,
): Promise<number> {
  const { host, store, claims, reply, logger } = run;
  const { push, claim, resumed } = publication;
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
  if (resumed === undefined && !isUpdate(push)) claims.opened();
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
