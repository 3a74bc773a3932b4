/**
 * Act three: from the verdict to the pull request. It refuses only what the host refuses. If it runs again for the same
 * push, it continues where the earlier attempt stopped, and never opens a second pull request.
 */
import type { RecordedPush } from '../../durable/pull-request/pull-request.ts';
import { AnonymousCommits } from '../../git/objects/anonymize.ts';
import { outgoingPack } from '../../git/pack/outgoing-pack.ts';
import type { Oid } from '../../git/objects/oid.ts';
import type { PullRequest } from '../../host/code-host.ts';
import type { Spool } from '../../spool/spool.ts';
import { Recent } from '../../isolate/recent.ts';
import { repositoryKey, type RepositoryName } from '../../repository-name.ts';
import type { Place, PushHost } from '../push-host.ts';
import { findPullRequest, recordOf } from '../judge/questions.ts';
import { keyOf } from '../pr-key.ts';
import type { ClaimedUpdate, PushRun } from '../push-run.ts';
import { Refusal } from '../reply/refusal.ts';
import type { SameWork } from '../reply/reply.ts';
import { findSameWork, sameWorkLines, tellSameWork, worksOf } from '../same-work.ts';
import { type Dates, datesOf, undatedOf } from '../verdict/dates.ts';
import { isUpdate, namedText, type Publishable, wholeText } from '../verdict/verdict.ts';
import { AgitDelivery } from './agit.ts';
import type { Delivery } from './delivery.ts';
import { ForkDelivery } from './from-fork.ts';
import type { Proposal } from './pull-request.ts';

export interface Publication {
  readonly push: Publishable;
  /** The entries of its pack. */
  readonly spool: Pick<Spool, 'read'>;
  /** A keyed hash of what is pushed and where to: the same for a push that is repeated. */
  readonly pushHash: string;
  /** Of the pull request, unless an earlier attempt has begun under another one. */
  readonly prHash: string;
  readonly claim: ClaimedUpdate | null;
  /** Of the pull request that it opens; null if it opens none. */
  readonly place: Place | null;
  /** The push was held until now. The place that it took then belongs to the pull request. */
  readonly isReleased?: boolean;
  /** Set for a push that was held: earlier attempts may have stopped at any point, and long ago. */
  readonly resumed?: Resumed;
}

export interface Resumed {
  /** Where the branch of a named pull request was when the push was judged. The branch is moved only from there. */
  readonly tip: Oid | null;
  /** Call it before anything becomes public. @throws Refusal if the push was ended, or the service is suspended */
  mayGoOn(): Promise<void>;
}

export interface Published {
  readonly prHash: string;
  readonly pullRequest: PullRequest;
  /** The bot's name. */
  readonly author: string;
  /** How many comments came since the last push of the pull request, as far as the service knows. */
  readonly newRemarks: number;
}

/** @returns null: the same push was held before, and nothing was done. @throws Refusal */
export async function publish(run: PushRun, publication: Publication): Promise<Published | null> {
  const { push, resumed } = publication;
  const delivery = openDelivery(run, push);
  try {
    const attempt = await prepare(run, publication, delivery);
    if (attempt === null) return null;
    const { anonymous, dates, prHash } = attempt;
    // Whatever has become of it since: what a maintainer has closed must not come again by itself.
    const opened = resumed !== undefined && push.named === null ? attempt.earlier : null;
    const pullRequest = opened ?? (await deliver(publication, delivery, attempt));
    pushedTo.set(repositoryKey(run.host.transport.hostName, push.repository), true);
    const place = publication.place ?? (await placeOfAnother(run, publication, pullRequest));
    const newRemarks = await record(run, { ...publication, place }, pullRequest, attempt.works, {
      title: titleOf(push, anonymous),
      prHash,
      tip: anonymous.tip,
      dates: dates.added(),
    });
    return { prHash, pullRequest, author: attempt.botLogin, newRemarks };
  } catch (error) {
    delivery.failed();
    throw error;
  }
}

/**
 * An update may have opened another pull request, where the first was closed in between (AGit flow). It takes a place like
 * any other, but is open already, whatever the limits say. Null: it has opened none.
 */
async function placeOfAnother(
  { host }: PushRun,
  { push, pushHash }: Publication,
  { number }: PullRequest,
): Promise<Place | null> {
  if (!isUpdate(push) || push.named?.pullRequest.number === number) return null;
  const place = await host.admission.place(pushHash).catch(() => null);
  await place?.take(push.repository, push.policyLimits).catch(() => {});
  await place?.settle(true).catch(() => {});
  return place;
}

/** Repositories in which this isolate has opened or updated a pull request. */
const pushedTo = new Recent<true>({ most: 1_000 });

export function wasPushedTo({ transport }: PushHost, repository: RepositoryName): boolean {
  return pushedTo.get(repositoryKey(transport.hostName, repository)) !== null;
}

function openDelivery(run: PushRun, push: Publishable): Delivery {
  const { repositories } = run.host;
  return repositories.way === 'fork'
    ? new ForkDelivery(run, repositories, push)
    : new AgitDelivery(run, repositories, push);
}

/** Everything that becomes public. */
async function deliver(
  { push, spool, resumed }: Publication,
  delivery: Delivery,
  attempt: Attempt,
): Promise<PullRequest> {
  const { anonymous, prHash } = attempt;
  const mayGoOn = async (): Promise<void> => resumed?.mayGoOn();
  await mayGoOn();
  const sent = {
    prHash,
    tip: anonymous.tip,
    commitCount: anonymous.size,
    pack: () => outgoingPack(anonymous.size, anonymous.contents(), push.entryCount, spool.read()),
    onlyFrom: resumed?.tip ?? null,
    mayGoOn,
  };
  return delivery.deliver(sent, attempt);
}

/** The last moment before something is written at the host. Null: the same push was held before. */
async function prepare(run: PushRun, publication: Publication, delivery: Delivery): Promise<Attempt | null> {
  const { place, push, pushHash } = publication;
  const taking =
    place === null ? run.host.admission.takeShare() : place.take(push.repository, push.policyLimits);
  // Run both at once, unless something has to be made first: that may take long, and the date must be set after it.
  const early = delivery.isReady
    ? begin(run, publication)
    : run.claims.isHeld(pushHash).then((isHeld) => (isHeld ? null : ('later' as const)));
  const [taken, begun] = await Promise.allSettled([taking, early]);
  if (begun.status === 'fulfilled' && begun.value === null) return null;
  if (taken.status === 'rejected') throw taken.reason;
  const first = await early;
  if (first === 'later') await delivery.prepare();
  const attempt = first === 'later' ? await begin(run, publication) : first;
  if (attempt === null) return null;
  // An earlier attempt that was answered, or whose pull request is closed, has its own place: this one opens another.
  const isAnother = !attempt.isRepeated || attempt.earlier?.isOpen === false;
  await place?.settle(isAnother && !publication.isReleased);
  // Now the pull request has its place, so that what is told of it comes true.
  if (attempt.same !== null) await tellDouble(run, push, attempt.prHash, attempt.same);
  if (first !== 'later') await delivery.prepare();
  return attempt;
}

interface Attempt extends Proposal {
  readonly dates: Dates;
  readonly works: readonly string[];
  /** Another pull request that has them; null: none is to be told. */
  readonly same: SameWork | null;
}

/**
 * From here on, a retry uses the same hash and the same date, which is set before anything is sent. Null: the same push
 * was held before.
 */
async function begin(run: PushRun, publication: Publication): Promise<Attempt | null> {
  const { push, pushHash, claim, resumed } = publication;
  const { host, settings, claims } = run;
  const committedAt = Math.floor(host.clock.now() / 1000);
  const proposed = { prHash: publication.prHash, committedAt };
  const botLogin = await host.botLogin();
  const identity = { name: botLogin, email: settings.anonEmail };
  const undated = undatedOf(push.commits, identity);
  const works = await worksOf(run, push, undated());
  // A push that names its pull request is an update, so it is not compared with others.
  const [begun, found] = await Promise.all([
    claims.begin(pushHash, push.repository, proposed),
    push.named === null ? findSameWork(run, push, works) : null,
  ]);
  if (begun === null) return null;
  const { intent } = begun;
  const isRepeated = begun.isRepeated || resumed !== undefined;
  const prHash = push.named?.prHash ?? intent.prHash;
  const mayBeOpen = isRepeated && push.named === null;
  const recorded = mayBeOpen ? await recordOf(host, prHash) : null;
  const earlier = mayBeOpen ? await findPullRequest(run, push.repository, botLogin, prHash, recorded) : null;
  const dates = datesOf(undated, claim?.dates ?? [], intent.committedAt);
  const anonymous = new AnonymousCommits(push.commits, identity, dates.dateOf);
  // A retry continues its own pull request, so there is nothing to warn of.
  const same = isRepeated ? null : found;
  return { prHash, isRepeated, botLogin, dates, anonymous, earlier, works, same };
}

/**
 * Warns before anything is public. The push still opens a pull request, as the contract says, unless the operator wants no
 * doubles.
 */
async function tellDouble(run: PushRun, push: Publishable, prHash: string, same: SameWork): Promise<void> {
  const lines = sameWorkLines(run, push, same);
  const [what, instead] = lines;
  if (same.isMerged) return tellSameWork(run.reply, same, lines);
  if (run.settings.pushDoubles === 'refuse')
    throw new Refusal('double', 'the commits are open already', lines);
  const withdrawal = `-o withdraw -o pr-hash=${prHash} -o pr-key=${await keyOf(run, prHash)}`;
  await tellSameWork(run.reply, same, [what, `${instead} Withdraw this one with ${withdrawal}.`]);
}

/** Null: it stays what it was. */
function titleOf(push: Publishable, anonymous: AnonymousCommits): string | null {
  return isUpdate(push) ? namedText(push, anonymous).title : wholeText(push, anonymous).title;
}

/**
 * Records the open pull request. If that fails, the pull request stays open, and a retry records it. Returns what
 * `PullRequest.record` returns.
 */
async function record(
  { host, claims, reply, logger }: PushRun,
  { push, claim, place }: Publication,
  pullRequest: PullRequest,
  works: readonly string[],
  pushed: Omit<RecordedPush, 'lease'> & { readonly prHash: string; readonly title: string | null },
): Promise<number> {
  const { owner, name: repo } = push.repository;
  const { prHash, title, ...rest } = pushed;
  const { number, url, fork, id } = pullRequest;
  const named = { prHash, host: host.hostKey, owner, repo, number, url };
  const known = { ...named, ...(id !== undefined && { id }) };
  const object = host.pullRequest(prHash);
  const at = host.clock.now();
  const opened = { ...known, openedAt: at, works };
  const [recorded, left] = await Promise.all([
    object
      .record(
        { ...known, fork, ...(title !== null && { title }) },
        { ...rest, lease: claim?.lease ?? null },
        at,
      )
      .then((newRemarks) => ({ newRemarks }))
      .catch((error: unknown) => ({ error })),
    place?.opened(opened) ?? [],
    push.named !== null && host.addWorks(prHash, works),
  ]);
  try {
    if ('error' in recorded) throw recorded.error;
    if (left.length > 0) await object.tellLater(left, at, works);
    return recorded.newRemarks;
  } catch (error) {
    claims.keep();
    logger.error('a pull request could not be recorded', { error });
    await reply.note('The service could not record it yet. Push the same commits again within the hour.');
    return 0;
  }
}
