/**
 * One push from its first byte to its answer: the only place that knows the order. Each function
 * returns what the next one needs.
 *
 *   receive()    the commands, the limits, then the pack to its last byte → Arrival
 *   judgePush()  all that is wrong with it, at once; or → JudgedPush
 *   agreedOn()   its warnings are told before it is published; what may have changed is asked again
 *   nowOrLater() before anything is written at the host
 *   publish()    → Published, or keep() → the page of a delayed push
 *   end()        gives back what it holds, once the client has its answer
 *
 * Git reads nothing before it has sent everything, so what `receive` has to say waits for
 * `conclude`. Every failure but an oversized body (HTTP 413) becomes a complete answer.
 * Proved by test/push/session.test.ts and test/e2e/push/push-acts.test.ts.
 */
import type { ByteReader } from '../git/wire/byte-reader.ts';
import type { FaultyRequest, PushRequest } from '../git/wire/push-request.ts';
import type { Finding } from '../words/finding.ts';
import type { PushSpool } from '../spool/spool.ts';
import { BodyError } from '../streams/body-error.ts';
import { agreedOn, commandWith } from './agreement.ts';
import { keep, mayWait, planOf, waitingFacts, withAdvice } from './delay/keep.ts';
import { withReason } from './delay/unrecorded.ts';
import { Findings, refusalOf } from './judge/findings.ts';
import { judgePush } from './judge-push.ts';
import { nowOrLater, publishedNow } from './now-or-later.ts';
import { leavesWork } from './publish/delivery.ts';
import { type PushRun, requireKey, slotHashOf } from './push-run.ts';
import { faultsIn, isDoubtful, type OptionFault, type PushOptions } from './receive/push-options.ts';
import { type Announced, announced, type Received, readPushedPack } from './receive/receive.ts';
import {
  type BannerFacts,
  bannerLines,
  type DelayedFacts,
  delayedLines,
  farewellLines,
  type Withdrawn,
} from './reply/banner.ts';
import { isOfLimits, refusedOptions, Refusal, toRefusal } from './reply/refusal.ts';
import { isMendable, needsOnlyOptions, reviewLines } from './reply/review.ts';
import { deletionLines, mendedWithdrawal, withdraw } from './withdraw.ts';

/** The outcome of a push, with the lines that tell the person. */
export type Outcome = { readonly lines: readonly string[] } & (
  | { readonly kind: 'published'; readonly facts: BannerFacts; readonly findings: readonly Finding[] }
  | { readonly kind: 'delayed'; readonly facts: DelayedFacts; readonly findings: readonly Finding[] }
  | { readonly kind: 'withdrawn'; readonly withdrawn: Withdrawn }
  /** None of its commands was accepted. */
  | { readonly kind: 'nothing-taken' }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
);

export interface Arrival {
  readonly said: Announced;
  readonly task: Task;
  /** The kind of push in the log; null: it is not logged. */
  readonly logged: 'push' | 'withdrawal' | null;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** Gives back what was received. May be called more than once. */
  readonly discard: () => Promise<void>;
}

/** The work that is left to do; or how the push has ended already. */
type Task =
  | { readonly kind: 'push'; readonly received: Received }
  | { readonly kind: 'withdrawal'; readonly prHash: string }
  | Outcome;

/**
 * Reads the body to the end of its pack. Where there is nothing to publish, the rest is unread.
 * Never rejects.
 */
export async function receive(
  run: PushRun,
  request: PushRequest | FaultyRequest,
  reader: ByteReader,
): Promise<Arrival> {
  const { host, store, settings } = run;
  const startedAt = host.clock.now();
  const said = announced(request);
  const { options, parsed, taken, commandList } = said;
  const spools: PushSpool[] = [];
  let pack: Received['pack'] | null = null;
  const discard = async (): Promise<void> => {
    pack?.kept.free();
    for (const spool of spools) await spool.discard();
    host.memory.end();
  };
  const openSpool = (): PushSpool => {
    const spool = store.openSpool();
    spools.push(spool);
    return spool;
  };
  let logged: Arrival['logged'] = null;
  const arrived = (task: Task): Arrival => ({ said, task, logged, startedAt, discard });
  const findings = new Findings();
  try {
    // Panic and the client's own limits come first, whatever is wrong with the request (contract,
    // 4.6).
    await admit(run, said);
    if (request.kind === 'faulty') throw request.fault;
    const faults = faultsIn(parsed);
    if (said.isWithdrawal) refuseOptions(faults);
    const prHash = options?.prHash ?? null;
    if (said.isWithdrawal && options !== null && prHash !== null) {
      logged = 'withdrawal';
      await checkWithdrawal(run, options);
      return arrived({ kind: 'withdrawal', prHash });
    }
    if (taken === null) return arrived({ kind: 'nothing-taken', lines: deletionLines(run, said) });
    logged = 'push';
    await checkOptions(run, parsed.options, faults, findings);
    pack = await readPushedPack(reader, openSpool, host.memory);
    const received = { taken, commandList, options: parsed.options, faults, pack };
    return arrived({ kind: 'push', received });
  } catch (error) {
    await discard();
    const refusal = toRefusal(findings.endedBy(error, settings.client), settings.client);
    return arrived(refusedAs(refusal, mendedWithdrawal(run, said, refusal)));
  }
}

/** @throws Refusal */
async function checkWithdrawal(run: PushRun, options: PushOptions): Promise<void> {
  if (options.preview)
    throw new Refusal('options', 'a withdrawal has no preview: leave out preview', [], {
      needs: ['withdraw'],
    });
  await requireKey(run, options, 'withdrawal');
  await run.reply.note(...options.warnings);
}

/**
 * Adds what is wrong with the options of a push to the findings of its pack.
 * @throws Refusal if nothing more may be told, or the key is wrong
 */
async function checkOptions(
  run: PushRun,
  options: PushOptions,
  faults: readonly OptionFault[],
  findings: Findings,
): Promise<void> {
  // Who wants to withdraw pushes nothing that could be judged.
  if (isDoubtful(faults, 'withdraw')) refuseOptions(faults);
  // Whoever cannot show the key hears nothing about the pull request.
  if (isDoubtful(faults, 'pr-key')) refuseOptions(faults);
  findings.add(refusedOptions(faults));
  await requireKey(run, options, run.settings.prUpdatePolicy === 'key' ? 'update' : null);
  await run.reply.note(...options.warnings);
}

/** @throws Refusal */
function refuseOptions(faults: readonly OptionFault[]): void {
  const refusal = refusalOf(refusedOptions(faults));
  if (refusal !== null) throw refusal;
}

/** @throws Refusal */
async function admit(run: PushRun, said: Announced): Promise<void> {
  const { isWithdrawal, parsed } = said;
  const { options } = parsed;
  const { review, publishDelayMs } = run.settings;
  // A malformed request fails anyway, so it need not be refused for a pause of the code host.
  const isMalformed = said.options === null && parsed.kind === 'valid';
  const waits = isMalformed || mayWait(run.settings, options);
  const isLater = review !== 'none' || (options.delayMs ?? publishDelayMs) > 0;
  const unlessWaiting = isLater ? 'delay' : 'none';
  const patience = waits ? 'wait' : unlessWaiting;
  const refusal = await run.limits.enter(isWithdrawal, opens(said), patience);
  if (refusal !== null) throw isWithdrawal ? refusal : withAdvice(run, options, refusal);
}

/**
 * Whether a push can only open a pull request, and therefore needs a slot. It is judged by those of
 * its options that are valid, so that a wrong one passes no limit.
 */
function opens({ taken, isWithdrawal, parsed: { options } }: Announced): boolean {
  return taken !== null && !isWithdrawal && !options.preview && options.prHash === null;
}

/** Identifies a push that can only open a pull request. */
function openingHash(run: PushRun, said: Announced): (() => Promise<string>) | undefined {
  const { taken, parsed } = said;
  const isKnown = opens(said) && taken !== null;
  return isKnown ? () => slotHashOf(run, { taken, options: parsed.options }) : undefined;
}

/** Does the work, and answers how it ended. Never rejects. */
export async function conclude(run: PushRun, arrival: Arrival) {
  const { said } = arrival;
  const attempted = await carriedOut(run, arrival).catch((error: unknown) => {
    run.claims.failed(leavesWork(error));
    const refusal = toRefusal(error, run.settings.client);
    const { task } = arrival;
    if (refusal.preview === null) return refusedAs(refusal, mendedCommand(run, task, refusal));
    return previewedAs(refusal, agreedCommand(run, task, refusal.preview.yes));
  });
  const full = (await refusedByQuota(run, attempted)) ?? (await refusedByLimit(run, arrival, attempted));
  const outcome = await withLimitExplained(run, said, full === null ? attempted : refusedAs(full));
  if (outcome.kind === 'refused' && isOfLimits(outcome.refusal)) run.notes.length = 0;
  await run.tell();
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

/** Says in the refusal of an update why a limit of new pull requests counts for it. */
async function withLimitExplained(run: PushRun, said: Announced, outcome: Outcome): Promise<Outcome> {
  if (outcome.kind !== 'refused') return outcome;
  const refusal = await withReason(run, said, outcome.refusal);
  return refusal === outcome.refusal ? outcome : refusedAs(refusal);
}

/** @param command that passes once the rest is done; null: there is none. */
function refusedAs(refusal: Refusal, command: string | null = null): Outcome {
  return { kind: 'refused', refusal, lines: reviewLines(refusal, command) };
}

/** @param command that publishes what was previewed without a wait; null: it would not wait. */
function previewedAs(refusal: Refusal, command: string | null): Outcome {
  const advice = command === null ? [] : [`To publish without the wait: ${command}`];
  return { kind: 'refused', refusal, lines: [...reviewLines(refusal, null), ...advice, refusal.finalLine] };
}

/** The command that passes once the person has mended the rest; null: none is sure to. */
function mendedCommand(run: PushRun, task: Task, refusal: Refusal): string | null {
  if (task.kind !== 'push' || !isMendable(refusal)) return null;
  const needs = refusal.all.flatMap((each) => each.needs);
  return commandWith(run, task.received, needsOnlyOptions(refusal), needs);
}

/**
 * The command that agrees to the warnings of a preview; null: there are none.
 * @param yes their codes.
 */
function agreedCommand(run: PushRun, task: Task, yes: readonly string[]): string | null {
  if (task.kind !== 'push' || yes.length === 0) return null;
  const options = { ...task.received.options, preview: false };
  return commandWith(run, { ...task.received, options }, true, [`yes=${yes.join(',')}`]);
}

/**
 * Ends a push whose body was over its limit, in place of `conclude` and `end`: the HTTP status says
 * why. Never rejects.
 */
export async function abandon(run: PushRun, arrival: Arrival): Promise<void> {
  tell(run, arrival, refusedAs(toRefusal(new BodyError('too-large'), run.settings.client)));
  await end(run, arrival, true);
}

/**
 * Gives back everything. Never rejects.
 * @param isAnswered whether the client has the answer, and needs no retry.
 */
export async function end(run: PushRun, arrival: Arrival, isAnswered: boolean): Promise<void> {
  await arrival.discard();
  await run.end(isAnswered);
}

/**
 * Counts a push that its person has not agreed to like a preview: it has asked the host as much,
 * and can be repeated without end. Null: the outcome stays.
 */
async function refusedByQuota({ limits, settings }: PushRun, outcome: Outcome): Promise<Refusal | null> {
  const code = outcome.kind === 'refused' ? outcome.refusal.code : null;
  if (code !== 'stopped' && code !== 'unconfirmed') return null;
  return limits.takeQuota().then(
    () => null,
    (error: unknown) => toRefusal(error, settings.client),
  );
}

/**
 * Refuses a failed push because the client's limit is used up, whatever else is wrong. Null: the
 * outcome stays.
 */
async function refusedByLimit(
  run: PushRun,
  { said, logged }: Arrival,
  outcome: Outcome,
): Promise<Refusal | null> {
  const isRefused = outcome.kind === 'refused' && !isOfLimits(outcome.refusal);
  if (!isRefused && outcome.kind !== 'nothing-taken') return null;
  const { options } = said.parsed;
  // Nobody is to think that a limit keeps them from withdrawing.
  if (said.isWithdrawal || options.preview) return null;
  const { prHash } = options;
  if (prHash !== null && (await run.store.isOpen(prHash))) return null;
  const full = await run.limits.refuseFull(openingHash(run, said));
  // Nor from waiting for room; the attempt counts all the same.
  if (options.wait) return null;
  return full && withAdvice(run, logged === null ? said.options : options, full);
}

/** @throws Refusal, and whatever else has failed */
async function carriedOut(run: PushRun, { task, said }: Arrival): Promise<Outcome> {
  if (task.kind === 'push') return judgedAndPublished(run, task.received);
  if (task.kind !== 'withdrawal') return task;
  const withdrawn = await withdraw(run, task.prHash, said.deletedRef);
  return { kind: 'withdrawn', withdrawn, lines: farewellLines(withdrawn) };
}

function delayed(facts: DelayedFacts, findings: readonly Finding[]): Outcome {
  return { kind: 'delayed', facts, findings, lines: delayedLines(facts) };
}

async function judgedAndPublished(run: PushRun, received: Received): Promise<Outcome> {
  const { options } = received;
  const planned = await planOf(run, options);
  const judged = await judgePush(run, received, planned);
  const agreed = await agreedOn(run, received, judged);
  const { findings } = agreed;
  const decided = await nowOrLater(run, received, agreed, planned);
  if (decided.kind === 'waits') return delayed(waitingFacts(run, decided.view), findings);
  if (decided.kind === 'later')
    return delayed(await keep(run, received, { ...agreed, slot: decided.slot }, decided.plan), findings);
  const facts = await publishedNow(run, received, decided.entered, agreed);
  return { kind: 'published', facts, findings, lines: bannerLines(facts) };
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
  if (refusal.code === 'stopped') return logger.info('push stopped', facts);
  const { code: reason } = refusal;
  // The first fault may be the person's, and a later one the host's.
  const error = refusal.all.find(({ cause }) => cause !== undefined)?.cause;
  logger.warn(`${logged} refused`, { ...facts, reason, ...(error !== undefined && { error }) });
}
