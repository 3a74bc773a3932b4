/**
 * One push from its first byte to its answer: the only place that knows the order. Each function returns what the next
 * one needs.
 *
 *   receive()    the commands, the limits, then the pack to its last byte → Arrival
 *   judge()      what the push is, and what the place says → Judged
 *   decide       now, or later: before anything is written at the host
 *   publish()    → Published, or keep() → the page of a delayed push
 *   end()        gives back what it holds, once the client has its answer
 *
 * A client reads nothing before it has sent everything. So `receive` only reads, and `conclude` does the rest. Every
 * failure becomes a complete answer.
 */
import type { ByteReader } from '../git/wire/byte-reader.ts';
import type { FaultyRequest, PushRequest } from '../git/wire/push-request.ts';
import type { ReportStatus } from '../git/wire/report-status.ts';
import type { PushIntent } from '../durable/pending-push/pending-push.ts';
import { workBranch } from '../pr-hash.ts';
import type { Spool } from '../spool/spool.ts';
import { BodyError } from '../streams/body-error.ts';
import {
  busyPlan,
  type DelayPlan,
  findAgain,
  isFull,
  isNow,
  keep,
  mayWait,
  planOf,
  withAdvice,
} from './delay/keep.ts';
import { type Judged, judge } from './judge/judge.ts';
import {
  lookUpPlace,
  lookUpUpstream,
  type Place as PlaceSays,
  questionsOf,
  quietly,
} from './judge/questions.ts';
import { enter, type Entered, type Publication, type Published, publish } from './publish/publish.ts';
import { leavesWork, mayBeOpen } from './publish/delivery.ts';
import type { Place } from './push-host.ts';
import { keyToShow, missingKey, requireKey } from './pr-key.ts';
import { pushHashOf, type PushRun } from './push-run.ts';
import type { PushOptions } from './receive/push-options.ts';
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
import { isUpdate, type Publishable } from './verdict/verdict.ts';
import { withdraw } from './withdraw.ts';

/** What became of a push. */
export type Outcome =
  | { readonly kind: 'published'; readonly facts: BannerFacts }
  /** Accepted, and published later. */
  | { readonly kind: 'delayed'; readonly facts: DelayedFacts }
  | { readonly kind: 'withdrawn'; readonly withdrawn: Withdrawn }
  /** None of its commands was accepted. */
  | { readonly kind: 'nothing-taken' }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

type Done = Exclude<Outcome, { kind: 'refused' }>;

/** What has arrived. */
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

/** What is to be done. */
type Task =
  | { readonly kind: 'push'; readonly received: Received }
  | { readonly kind: 'withdrawal'; readonly prHash: string }
  | { readonly kind: 'nothing-taken' }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/** The end of an answer. */
export interface Conclusion extends ReportStatus {
  readonly outcome: Outcome;
  /** For the person, before the report. */
  readonly lines: readonly string[];
  /** Null: nothing has failed. */
  readonly finalLine: string | null;
}

/** Refusals that already come before everything else: panic, and the limits themselves. */
const TOLD_FIRST: ReadonlySet<RefusalCode> = new Set(['suspended', 'rate-limited']);

const ASKS_NOW =
  'A preview asks the code host about the repository now. A delayed push asks only when it is published.';

/** Reads the body to the end of its pack. Where there is nothing to publish, the rest is unread. Never rejects. */
export async function receive(
  run: PushRun,
  request: PushRequest | FaultyRequest,
  reader: ByteReader,
): Promise<Arrival> {
  const { host, store, settings } = run;
  const startedAt = host.clock.now();
  const said = announced(request);
  const spools: Spool[] = [];
  const discard = async (): Promise<void> => {
    for (const spool of spools) await spool.discard();
    host.memory.end();
  };
  let logged: Arrival['logged'] = null;
  const arrived = (task: Task): Arrival => ({ said, task, logged, startedAt, discard });
  try {
    // Panic and the client's own limits come first, whatever is wrong with the request (contract, 4.6).
    await admit(run, said);
    if (request.kind === 'faulty') throw request.fault;
    const { options } = said;
    const prHash = options?.prHash ?? null;
    if (said.isWithdrawal && options !== null && prHash !== null) {
      logged = 'withdrawal';
      await requireKey(run, options, 'withdrawal');
      await run.reply.note(...options.warnings);
      return arrived({ kind: 'withdrawal', prHash });
    }
    if (said.taken === null) return arrived({ kind: 'nothing-taken' });
    logged = 'push';
    const received = await receivePush(run, { ...said, taken: said.taken }, reader, () => {
      const spool = store.openSpool();
      spools.push(spool);
      return spool;
    });
    const all = async (): Promise<void> => (received.pack.kept.free(), discard());
    return { ...arrived({ kind: 'push', received }), discard: all };
  } catch (error) {
    await discard();
    return arrived({ kind: 'refused', refusal: toRefusal(error, settings.client) });
  }
}

/** @throws Refusal */
async function admit(run: PushRun, said: Announced): Promise<void> {
  const { options, isWithdrawal } = said;
  // A push with invalid options fails anyway, so it need not be refused for a pause of the code host.
  const patience =
    options === null || mayWait(run.settings, options)
      ? 'wait'
      : isNow(run.settings, options)
        ? 'none'
        : 'delay';
  const refusal = await run.limits.enter(isWithdrawal, openingHash(run, said), patience);
  if (refusal !== null) throw refusal;
}

/** Identifies a push that can only open a pull request, and therefore needs a place. */
function openingHash(run: PushRun, { taken, options }: Announced): (() => Promise<string>) | undefined {
  const opens = taken !== null && options !== null && !options.preview && options.prHash === null;
  return opens ? () => pushHashOf(run, { taken, options }) : undefined;
}

/** @throws Refusal, and what `receivePack` throws */
async function receivePush(
  run: PushRun,
  { taken, commandList, parsed }: Announced & Pick<Received, 'taken'>,
  reader: ByteReader,
  openSpool: () => Spool,
): Promise<Received> {
  const { reply, settings, host } = run;
  if (parsed.kind === 'invalid') throw new Refusal('options', parsed.message, []);
  const { options } = parsed;
  await requireKey(run, options, settings.prUpdatePolicy === 'key' ? 'update' : null);
  await reply.note(...options.warnings);
  return { taken, commandList, options, pack: await receivePack(reader, openSpool, host.memory) };
}

/** Does the work, and answers how it ended. Never rejects. */
export async function conclude(run: PushRun, arrival: Arrival): Promise<Conclusion> {
  const { said } = arrival;
  const attempted = await carriedOut(run, arrival).catch((error: unknown): Outcome => {
    run.claims.failed(leavesWork(error));
    return { kind: 'refused', refusal: toRefusal(error, run.settings.client) };
  });
  const full = await refusedByLimit(run, arrival, attempted);
  await run.tell();
  const outcome: Outcome = full === null ? attempted : { kind: 'refused', refusal: full };
  tell(run, arrival, outcome);
  // Release the locks now, so that the next push does not wait until this answer has arrived.
  const { claims } = run;
  run.beside(outcome.kind === 'published' ? claims.endUpdate() : claims.end(true));
  const refusal = outcome.kind === 'refused' ? outcome.refusal : null;
  const reason = refusal?.finalLine ?? null;
  const isUnread = full !== null || (arrival.logged === null && refusal !== null);
  return {
    outcome,
    lines: linesOf(outcome),
    unpackStatus: refusal?.unpackStatus ?? 'ok',
    commandStatuses: said.statuses(reason, isUnread),
    // A preview has not failed: at an error on band 3, Git adds a sentence about a broken connection.
    finalLine: refusal?.preview ? null : reason,
  };
}

/** In place of `conclude` and `end`, because the body was over its limit, which the HTTP status says. Never rejects. */
export async function abandon(run: PushRun, arrival: Arrival): Promise<void> {
  const refusal = toRefusal(new BodyError('too-large'), run.settings.client);
  tell(run, arrival, { kind: 'refused', refusal });
  await end(run, arrival, true);
}

/** Gives back everything. @param isAnswered the client has the answer, and will not push again for it. Never rejects. */
export async function end(run: PushRun, arrival: Arrival, isAnswered: boolean): Promise<void> {
  await arrival.discard();
  await run.end(isAnswered);
}

/**
 * A client that has used up its limit is told so, whatever else is wrong with its push, unless the push updates an open
 * pull request. Null: the limit does not apply.
 */
async function refusedByLimit(
  run: PushRun,
  { said, logged }: Arrival,
  outcome: Outcome,
): Promise<Refusal | null> {
  const { limits, store } = run;
  const isRefused = outcome.kind === 'refused' && !TOLD_FIRST.has(outcome.refusal.code);
  if (!isRefused && outcome.kind !== 'nothing-taken') return null;
  if (logged === 'withdrawal' || said.options?.preview) return null;
  const prHash = said.options?.prHash ?? null;
  if (prHash !== null && (await store.isOpen(prHash))) return null;
  return limits.refuseFull(openingHash(run, said));
}

/** @throws Refusal, and whatever else has failed */
async function carriedOut(run: PushRun, { task, said }: Arrival): Promise<Done> {
  switch (task.kind) {
    case 'push':
      return judgedAndPublished(run, task.received);
    case 'withdrawal':
      return { kind: 'withdrawn', withdrawn: await withdraw(run, task.prHash, said.deletedRef) };
    case 'nothing-taken':
      return { kind: 'nothing-taken' };
    case 'refused':
      throw task.refusal;
  }
}

async function judgedAndPublished(run: PushRun, received: Received): Promise<Done> {
  const { options } = received;
  const plan = options.preview ? null : await planOf(run, options);
  const found = plan === null ? null : await findAgain(run, received, plan);
  if (found !== null) return { kind: 'delayed', facts: found };
  const judged = await judgedNow(run, received, plan);
  const decided = await decide(run, received, judged, plan);
  if (decided.kind === 'later') {
    const facts = await keep(run, received, { ...judged, place: decided.place }, decided.plan);
    return { kind: 'delayed', facts };
  }
  return { kind: 'published', facts: await publishedNow(run, received, decided) };
}

interface JudgedPush extends Omit<Judged, 'warnings'> {
  readonly spool: Spool;
  readonly pushHash: string;
  readonly recordedTip: string | null;
  /** Whether the pull request that it names is open, as far as is known. */
  readonly wasOpen: boolean;
}

/** @param plan null: it is to be published now. @throws Refusal, also for a preview */
async function judgedNow(run: PushRun, received: Received, plan: DelayPlan | null): Promise<JudgedPush> {
  const { host, limits, store, settings, claims, reply } = run;
  const { options, pack } = received;
  const { prHash, preview } = options;
  const listed = prHash === null ? null : await claims.claimListed(prHash);
  const pushHash = await pushHashOf(run, received);
  const isAsked = (preview || prHash !== null) && listed === null;
  const full = isAsked ? await limits.peek(pushHash) : null;
  // A made-up hash must not cost the host anything, and is an attempt like any other.
  if (full !== null && !preview) throw (await limits.refuseFull(async () => pushHash)) ?? full;
  const { delayMs } = options;
  if (preview && (delayMs ?? settings.publishDelayMs) > 0) await reply.note(ASKS_NOW);
  // Previews can be repeated without end and never reach the account's own check, so count them here.
  if (preview) await limits.takeShare();
  const isQuiet = plan !== null;
  if (!preview && !isQuiet) {
    void host.connectAhead('push');
    void host.connectAhead('pull-request');
  }
  const asking = isQuiet ? null : placeOrLater(run, options);
  const [upstream, place, botLogin] = await Promise.all([
    lookUpUpstream(run),
    asking,
    run.steps.run('lookup', () => host.botLogin(isQuiet)),
  ]);
  const questions = questionsOf(
    run,
    { ...upstream, repository: place?.repository ?? upstream.repository },
    botLogin,
  );
  const now = Math.floor(host.clock.now() / 1000);
  const circumstances = { settings, botLogin, listed, memory: host.memory, now, refusal: full };
  const asked = place === null ? quietly(questions) : questions;
  const { warnings, ...judged } = await judge(received, upstream, place, circumstances, asked);
  const { claim } = judged;
  pack.kept.free(judged.work.commits.byteLength);
  run.note(...warnings);
  const wasOpen =
    judged.place === null
      ? prHash !== null && claim !== null && (await store.isOpen(prHash))
      : isUpdate(judged.place);
  const recordedTip = claim?.recorded?.tip ?? null;
  const changesTexts = options.title !== null || options.description !== null;
  if (place === null && wasOpen && changesTexts && options.prKey === null) throw missingKey('texts');
  return { ...judged, spool: pack.spool, pushHash, recordedTip, wasOpen };
}

/** What the place says; null: the host does not say it now, and the push waits for that. @throws Refusal */
async function placeOrLater(run: PushRun, options: PushOptions): Promise<PlaceSays | null> {
  try {
    return await lookUpPlace(run);
  } catch (error) {
    const isLater = error instanceof Refusal && isMomentary(error);
    if (!isLater || options.preview || !mayWait(run.settings, options)) throw error;
    return null;
  }
}

type Decided =
  | { readonly kind: 'now'; readonly publication: Publication; readonly entered: Entered }
  | { readonly kind: 'later'; readonly plan: DelayPlan; readonly place: Place | null };

/** Now or later: nothing has been written at the host. @throws Refusal if it has to wait, and may not */
async function decide(
  run: PushRun,
  { options }: Received,
  { work, place: says, pushHash, spool, claim, wasOpen }: JudgedPush,
  planned: DelayPlan | null,
): Promise<Decided> {
  const { host, limits, settings } = run;
  const opens = says === null ? !wasOpen : !isUpdate(says);
  const place = opens ? await limits.place(pushHash) : null;
  const plan = planned ?? (says === null ? busyPlan(host.clock.now()) : null);
  if (plan !== null || says === null) return { kind: 'later', plan: plan as DelayPlan, place };
  const prHash = settings.newPrHash();
  const propose = (committedAt: number): PushIntent => ({ prHash, committedAt });
  const publication = { push: { ...work, ...says }, spool, pushHash, propose, claim, place };
  try {
    return { kind: 'now', publication, entered: await enter(run, publication) };
  } catch (error) {
    await place?.release();
    // Nothing was sent.
    run.claims.failed(false);
    if (!isFull(error)) throw error;
    if (!mayWait(settings, options)) throw withAdvice(error);
    return { kind: 'later', plan: busyPlan(host.clock.now()), place };
  }
}

/** @throws Refusal */
async function publishedNow(
  run: PushRun,
  { options, taken }: Received,
  { publication, entered }: Extract<Decided, { kind: 'now' }>,
): Promise<BannerFacts> {
  try {
    const published = await publish(run, publication, entered);
    const key = await keyToShow(run, options, published.prHash);
    return bannerOf(run, published, key, publication.push, options, taken.command.refName);
  } catch (error) {
    if (!mayBeOpen(error)) await publication.place?.release();
    // A retry must find what this attempt may have done.
    if (leavesWork(error)) run.claims.keep();
    throw error;
  }
}

function bannerOf(
  { settings }: PushRun,
  { prHash, pullRequest, author, newRemarks }: Published,
  key: string | null,
  push: Publishable,
  { base, squash }: PushOptions,
  refName: string,
): BannerFacts {
  return {
    updated: isUpdate(push),
    prUrl: pullRequest.url,
    author,
    branch: workBranch(prHash),
    prHash,
    key,
    prKey: settings.prUpdatePolicy === 'key' ? key : null,
    isSignedOff: push.isSignedOff,
    isSquashed: squash,
    isDraft: push.isDraft,
    base,
    pageUrl: settings.pageUrl(prHash),
    newRemarks,
    subscribeUrl: settings.topicUrl(prHash),
    remoteUrl: settings.remoteUrl(push.repository),
    refName,
  };
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

function linesOf(outcome: Outcome): readonly string[] {
  switch (outcome.kind) {
    case 'published':
      return bannerLines(outcome.facts);
    case 'delayed':
      return delayedLines(outcome.facts);
    case 'withdrawn':
      return farewellLines(outcome.withdrawn);
    case 'refused': {
      const { paragraph, preview, finalLine } = outcome.refusal;
      return preview === null ? paragraph : [...paragraph, finalLine];
    }
    case 'nothing-taken':
      return [];
  }
}
