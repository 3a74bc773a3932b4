/**
 * One push from its first byte to its answer: the only place that knows the order. Each function
 * returns what the next one needs.
 *
 *   receive()    the commands, the limits, then the pack to its last byte → Arrival
 *   judge()      what the push is, and what the place says → Judged
 *   decide       now, or later: before anything is written at the host
 *   publish()    → Published, or keep() → the page of a delayed push
 *   end()        gives back what it holds, once the client has its answer
 *
 * A client reads nothing before it has sent everything. So `receive` only reads, and `conclude`
 * does the rest. Every failure becomes a complete answer.
 * Proved by test/service/push-limits.test.ts and test/e2e/push/push-acts.test.ts.
 */
import type { ByteReader } from '../git/wire/byte-reader.ts';
import type { FaultyRequest, PushRequest } from '../git/wire/push-request.ts';
import { workBranch } from '../words/pr-hash.ts';
import type { DelayedView } from '../durable/delayed-pushes/delayed-push.ts';
import { repositoryKey, type RepositoryName } from '../words/repository-name.ts';
import type { Spool } from '../spool/spool.ts';
import { linesOf } from '../words/finding.ts';
import { BodyError } from '../streams/body-error.ts';
import {
  busyPlan,
  type DelayPlan,
  isFull,
  keep,
  mayWait,
  planOf,
  waitingFacts,
  withAdvice,
} from './delay/keep.ts';
import { UNKNOWN_HASH } from './judge/destination.ts';
import { refusalOf } from './judge/findings.ts';
import { type Judged, judge } from './judge/judge.ts';
import {
  gitQuestions,
  lookUpPlace,
  lookUpUpstream,
  placeQuestions,
  type Upstream,
} from './judge/questions.ts';
import { previewOf } from './preview.ts';
import { enterNow } from './publish/live-attempt.ts';
import { type Entered, type Publication, publish } from './publish/publish.ts';
import { leavesWork, mayBeOpen } from './publish/delivery.ts';
import type { Slot } from './push-host.ts';
import { type ClaimedUpdate, type PushRun, receivedHashOf, requireKey, slotHashOf } from './push-run.ts';
import { type Announced, announced, type Received, receivePack } from './receive/receive.ts';
import {
  type BannerFacts,
  bannerLines,
  type DelayedFacts,
  delayedLines,
  farewellLines,
  type Withdrawn,
} from './reply/banner.ts';
import { isMomentary, Refusal, type RefusalCode, toRefusal } from './reply/refusal.ts';
import { isUpdate } from './verdict.ts';
import { withdraw } from './withdraw.ts';

/** What became of a push, with the lines that tell the person. */
export type Outcome = { readonly lines: readonly string[] } & (
  | { readonly kind: 'published'; readonly facts: BannerFacts }
  | { readonly kind: 'delayed'; readonly facts: DelayedFacts }
  | { readonly kind: 'withdrawn'; readonly withdrawn: Withdrawn }
  /** None of its commands was accepted. */
  | { readonly kind: 'nothing-taken' }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
);

export interface Arrival {
  readonly said: Announced;
  readonly task: Task;
  /** For the log. Null: the push was refused before it was read, which is not logged. */
  readonly logged: 'push' | 'withdrawal' | null;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** Gives back what was received. May be called more than once. */
  readonly discard: () => Promise<void>;
}

/** What is to be done; or how the push has ended already. */
type Task =
  | { readonly kind: 'push'; readonly received: Received }
  | { readonly kind: 'withdrawal'; readonly prHash: string }
  | Outcome;

/** Refusals that already come before everything else: panic, and the limits themselves. */
const TOLD_FIRST: ReadonlySet<RefusalCode> = new Set(['suspended', 'rate-limited']);

const ASKS_NOW =
  'A preview asks the code host about the repository now. A delayed push asks only when it is published.';

/**
 * Reads the body to the end of its pack. Where there is nothing to publish, the rest is unread.
 * Never rejects.
 */
export async function receive(
  run: PushRun,
  request: PushRequest | FaultyRequest,
  reader: ByteReader,
): Promise<Arrival> {
  const { host, store, settings, reply } = run;
  const startedAt = host.clock.now();
  const said = announced(request);
  const { options, parsed, taken, commandList } = said;
  const spools: Spool[] = [];
  let pack: Received['pack'] | null = null;
  const discard = async (): Promise<void> => {
    pack?.kept.free();
    for (const spool of spools) await spool.discard();
    host.memory.end();
  };
  const openSpool = (): Spool => {
    const spool = store.openSpool();
    spools.push(spool);
    return spool;
  };
  let logged: Arrival['logged'] = null;
  const arrived = (task: Task): Arrival => ({ said, task, logged, startedAt, discard });
  try {
    // Panic and the client's own limits come first, whatever is wrong with the request (contract,
    // 4.6).
    await admit(run, said);
    if (request.kind === 'faulty') throw request.fault;
    if (said.isWithdrawal && parsed.kind === 'invalid') throw new Refusal('options', parsed.message, []);
    const prHash = options?.prHash ?? null;
    if (said.isWithdrawal && options !== null && prHash !== null) {
      logged = 'withdrawal';
      if (options.preview) throw new Refusal('options', 'a withdrawal has no preview: leave out preview', []);
      await requireKey(run, options, 'withdrawal');
      await reply.note(...options.warnings);
      return arrived({ kind: 'withdrawal', prHash });
    }
    if (taken === null) return arrived({ kind: 'nothing-taken', lines: [] });
    logged = 'push';
    if (parsed.kind === 'invalid') throw new Refusal('options', parsed.message, []);
    await requireKey(run, parsed.options, settings.prUpdatePolicy === 'key' ? 'update' : null);
    await reply.note(...parsed.options.warnings);
    pack = await receivePack(reader, openSpool, host.memory);
    return arrived({ kind: 'push', received: { taken, commandList, options: parsed.options, pack } });
  } catch (error) {
    await discard();
    return arrived(refusedAs(toRefusal(error, settings.client)));
  }
}

/** @throws Refusal */
async function admit(run: PushRun, said: Announced): Promise<void> {
  const { options, isWithdrawal } = said;
  const { review, publishDelayMs } = run.settings;
  // One with invalid options fails anyway, so it need not be refused for a pause of the code host.
  const waits = options === null || mayWait(run.settings, options);
  const isLater = review !== 'none' || (options?.delayMs ?? publishDelayMs) > 0;
  const unlessWaiting = isLater ? 'delay' : 'none';
  const patience = waits ? 'wait' : unlessWaiting;
  const refusal = await run.limits.enter(isWithdrawal, opens(said), patience);
  if (refusal !== null) throw isWithdrawal ? refusal : withAdvice(run, options, refusal);
}

/** Whether a push can only open a pull request, and therefore needs a slot. */
function opens({ taken, options }: Announced): boolean {
  return taken !== null && options !== null && !options.preview && options.prHash === null;
}

/** Identifies a push that can only open a pull request. */
function openingHash(run: PushRun, said: Announced): (() => Promise<string>) | undefined {
  const { taken, options } = said;
  const isKnown = opens(said) && taken !== null && options !== null;
  return isKnown ? () => slotHashOf(run, { taken, options }) : undefined;
}

/** Does the work, and answers how it ended. Never rejects. */
export async function conclude(run: PushRun, arrival: Arrival) {
  const { said } = arrival;
  const attempted = await carriedOut(run, arrival).catch((error: unknown) => {
    run.claims.failed(leavesWork(error));
    return refusedAs(toRefusal(error, run.settings.client));
  });
  const full = await refusedByLimit(run, arrival, attempted);
  await run.tell();
  const outcome = full === null ? attempted : refusedAs(full);
  tell(run, arrival, outcome);
  // Release the locks now, so that the next push does not wait until this answer has arrived.
  const { claims } = run;
  run.beside(outcome.kind === 'published' ? claims.endUpdate() : claims.end(true));
  const refusal = outcome.kind === 'refused' ? outcome.refusal : null;
  const reason = refusal?.finalLine ?? null;
  const isUnread = full !== null || (arrival.logged === null && refusal !== null);
  return {
    outcome,
    unpackStatus: refusal?.unpackStatus ?? 'ok',
    commandStatuses: said.statuses(reason, isUnread),
    // A preview has not failed: at an error on band 3, Git adds a sentence about a broken
    // connection.
    finalLine: refusal?.preview ? null : reason,
  };
}

function refusedAs(refusal: Refusal): Outcome {
  const { paragraph, preview, finalLine } = refusal;
  return { kind: 'refused', refusal, lines: preview === null ? paragraph : [...paragraph, finalLine] };
}

/**
 * In place of `conclude` and `end`, because the body was over its limit, which the HTTP status
 * says. Never rejects.
 */
export async function abandon(run: PushRun, arrival: Arrival): Promise<void> {
  tell(run, arrival, refusedAs(toRefusal(new BodyError('too-large'), run.settings.client)));
  await end(run, arrival, true);
}

/**
 * Gives back everything.
 * @param isAnswered the client has the answer, and needs no retry. Never rejects.
 */
export async function end(run: PushRun, arrival: Arrival, isAnswered: boolean): Promise<void> {
  await arrival.discard();
  await run.end(isAnswered);
}

/**
 * That the client's limit is used up, whatever else is wrong. Null: it is not, or an open pull
 * request is updated.
 */
async function refusedByLimit(
  run: PushRun,
  { said, logged }: Arrival,
  outcome: Outcome,
): Promise<Refusal | null> {
  const isRefused = outcome.kind === 'refused' && !TOLD_FIRST.has(outcome.refusal.code);
  if (!isRefused && outcome.kind !== 'nothing-taken') return null;
  if (logged === 'withdrawal' || said.options?.preview) return null;
  const prHash = said.options?.prHash ?? null;
  if (prHash !== null && (await run.store.isOpen(prHash))) return null;
  const full = await run.limits.refuseFull(openingHash(run, said));
  return full && withAdvice(run, said.options, full);
}

/** @throws Refusal, and whatever else has failed */
async function carriedOut(run: PushRun, { task, said }: Arrival): Promise<Outcome> {
  if (task.kind === 'push') return judgedAndPublished(run, task.received);
  if (task.kind !== 'withdrawal') return task;
  const withdrawn = await withdraw(run, task.prHash, said.deletedRef);
  return { kind: 'withdrawn', withdrawn, lines: farewellLines(withdrawn) };
}

function delayed(facts: DelayedFacts): Outcome {
  return { kind: 'delayed', facts, lines: delayedLines(facts) };
}

async function judgedAndPublished(run: PushRun, received: Received): Promise<Outcome> {
  const { options } = received;
  const planned = await planOf(run, options);
  const judged = await judgedNow(run, received, planned !== null);
  const decided = await decide(run, received, judged, planned);
  if (decided.kind === 'waits') return delayed(waitingFacts(run, decided.view));
  if (decided.kind === 'later')
    return delayed(await keep(run, received, { ...judged, slot: decided.slot }, decided.plan));
  const facts = await publishedNow(run, received, decided, judged);
  return { kind: 'published', facts, lines: bannerLines(facts) };
}

interface JudgedPush extends Omit<Judged, 'findings'>, Pick<Upstream, 'hostAheadMs'> {
  readonly slotHash: string;
  readonly receivedHash: string;
}

/**
 * @param isLater the host is asked what a clone asks, unless it is a preview.
 * @throws Refusal, also for a preview
 */
async function judgedNow(run: PushRun, received: Received, isLater: boolean): Promise<JudgedPush> {
  const { host, limits, store, settings, claims, reply } = run;
  const { options, pack } = received;
  const { prHash, preview } = options;
  const isQuiet = isLater && !preview;
  if (preview) claims.lockNothing();
  const claimed = prHash === null ? null : await claims.claimListed(prHash);
  // Before it is published, only our own record can say of which repository the pull request is.
  const listed = isQuiet && isElsewhere(claimed, run.target) ? null : claimed;
  const slotHash = await slotHashOf(run, received);
  const receivedHash = await receivedHashOf(run, received);
  const isAsked = (preview || prHash !== null) && listed === null;
  const full = isAsked ? await limits.peek() : null;
  // A made-up hash must not cost the host anything, and is an attempt like any other.
  if (full !== null && !preview)
    throw withAdvice(run, options, (await limits.refuseFull(async () => slotHash)) ?? full);
  if (preview) {
    if (isLater) await reply.note(ASKS_NOW);
    // Previews can be repeated without end and never reach the account's own check, so count them
    // here.
    await limits.takeQuota();
  } else if (!isQuiet) {
    void host.connectAhead('push');
    void host.connectAhead('pull-request');
  }
  /** If the host does not say now what it has to say, the push may wait for that. */
  const unlessWaits = (error: unknown): null => {
    const waits = error instanceof Refusal && isMomentary(error) && !preview && mayWait(settings, options);
    if (!waits) throw error;
    return null;
  };
  const [upstream, looked, botLogin] = await Promise.all([
    lookUpUpstream(run),
    isQuiet ? null : lookUpPlace(run).catch(unlessWaits),
    run.steps.run('lookup', () => host.botLogin(isQuiet)),
  ]);
  const ofHost = { ...upstream, repository: looked?.repository ?? upstream.repository };
  const place = looked && { ...looked, ask: placeQuestions(run, ofHost, botLogin) };
  const now = Math.floor(host.clock.now() / 1000);
  const wasOpen = place === null && listed !== null && (await store.isOpen(prHash ?? ''));
  const circumstances = { settings, botLogin, listed, memory: host.memory, now, refusal: full, wasOpen };
  const judged = await judge(received, upstream, place, circumstances, gitQuestions(run, ofHost));
  const { work } = judged;
  const { unknown = [], found = [] } = Object.groupBy(judged.findings, ({ code }) =>
    code === UNKNOWN_HASH ? 'unknown' : 'found',
  );
  // The person has named it, and learns before anything else that it is not there.
  await reply.note(...linesOf(unknown));
  if (preview && judged.place !== null)
    throw await previewOf(run, pack, { ...work, ...judged.place }, { ...judged, findings: found }, full);
  const refusal = refusalOf(found);
  if (refusal !== null) throw refusal;
  pack.kept.free(work.commits.byteLength);
  run.notes.push(...linesOf(found));
  return { ...judged, slotHash, receivedHash, hostAheadMs: upstream.hostAheadMs };
}

function isElsewhere(claimed: ClaimedUpdate | null, target: RepositoryName): boolean {
  const recorded = claimed?.recorded ?? null;
  if (recorded === null) return false;
  const { host, owner, repo } = recorded;
  return repositoryKey(host, { owner, name: repo }) !== repositoryKey(host, target);
}

type Decided =
  | { readonly kind: 'now'; readonly publication: Publication; readonly entered: Entered }
  | { readonly kind: 'later'; readonly plan: DelayPlan; readonly slot: Slot | null }
  /** The same push waits, and is published when that was to be. */
  | { readonly kind: 'waits'; readonly view: DelayedView };

/**
 * Now or later: nothing has been written at the host.
 * @throws Refusal if it has to wait, and may not
 */
async function decide(
  run: PushRun,
  { options, pack }: Received,
  { work, place: says, slotHash, receivedHash, claim, updates }: JudgedPush,
  planned: DelayPlan | null,
): Promise<Decided> {
  const { host, limits, settings, store } = run;
  const slot = updates ? null : await limits.slot(slotHash);
  const later = (plan = busyPlan(host.clock.now())): Decided => ({ kind: 'later', plan, slot });
  if (says === null) return later(planned ?? undefined);
  const push = { ...work, ...says };
  const pushHash = await store.attemptHash(receivedHash);
  const publication = { push, spool: pack.spool, pushHash, claim, slot };
  try {
    const finding = slot === null ? null : store.findWaiting(receivedHash);
    // Without a slot, nothing is told of what is found.
    finding?.catch(() => {});
    const entered = await enterNow(run, publication);
    const view = await finding;
    if (view === null) return { kind: 'now', publication, entered };
    // Who has asked for a delay must not become public because a retry lacks the option.
    await slot?.release();
    return { kind: 'waits', view };
  } catch (error) {
    await slot?.release();
    // Nothing was sent.
    run.claims.failed(false);
    if (!isFull(error)) throw error;
    if (!mayWait(settings, options)) throw withAdvice(run, options, error);
    return later();
  }
}

/** @throws Refusal */
async function publishedNow(
  run: PushRun,
  { options, taken }: Received,
  { publication, entered }: Extract<Decided, { kind: 'now' }>,
  { updated: changes }: JudgedPush,
): Promise<BannerFacts> {
  const { settings } = run;
  const { push, slot } = publication;
  try {
    const published = await publish(run, entered);
    const { prHash, key, isRepeated, isUnchanged, hasEdited, isDouble } = published;
    const { pullRequest, author, newRemarks } = published;
    return {
      updated: isUpdate(push),
      changes: isUnchanged ? '' : changes,
      hasEdited,
      isRepeated,
      isDouble,
      prUrl: pullRequest.url,
      author,
      branch: workBranch(prHash),
      prHash,
      key: prHash === push.prHash ? null : key,
      prKey: settings.prUpdatePolicy === 'key' ? (key ?? '<key>') : null,
      isSignedOff: push.isSignedOff,
      isSquashed: options.squash,
      isDraft: push.isDraft,
      base: options.base,
      pageUrl: settings.pageUrl(prHash),
      newRemarks,
      subscribeUrl: settings.topicUrl(prHash),
      remoteUrl: settings.remoteUrl(push.repository),
      refName: taken.command.refName,
    };
  } catch (error) {
    if (!mayBeOpen(error)) await slot?.release();
    throw error;
  }
}

function tell({ host, store, logger }: PushRun, { logged, startedAt }: Arrival, outcome: Outcome): void {
  if (outcome.kind === 'nothing-taken') return;
  const refusal = outcome.kind === 'refused' ? outcome.refusal : null;
  const durationMs = logged === 'push' ? host.clock.now() - startedAt : null;
  // A delayed push counts when it is published.
  if (outcome.kind !== 'delayed') store.count(refusal, durationMs);
  if (logged === null) return;
  const facts = durationMs === null ? {} : { durationMs };
  const done = outcome.kind === 'delayed' ? 'delayed' : 'accepted';
  if (refusal === null) return logger.info(`${logged} ${done}`, facts);
  if (refusal.preview !== null) return logger.info('push previewed', facts);
  const { code: reason, cause: error } = refusal;
  logger.warn(`${logged} refused`, { ...facts, reason, ...(error !== undefined && { error }) });
}
