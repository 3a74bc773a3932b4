/**
 * One push from its first byte to its answer: the only place that knows the order.
 *
 *   receive()    the commands, the limits, then the pack to its last byte
 *   conclude()   judge, then publish; or withdraw
 *   end()        gives back what it holds, once the client has its answer
 *
 * A client reads nothing before it has sent everything. So `receive` decides what to do, and `conclude` does it. Every
 * failure becomes a complete answer.
 */
import type { ByteReader } from '../git/wire/byte-reader.ts';
import type { FaultyRequest, PushRequest } from '../git/wire/push-request.ts';
import type { CommandStatus, ReportStatus } from '../git/wire/report-status.ts';
import { pullRequestTopic } from '../notify/ntfy.ts';
import { workBranch } from '../pr-hash.ts';
import type { Spool } from '../spool/spool.ts';
import { BodyError, drain } from '../streams/body.ts';
import {
  type HeldOutcome,
  Holding,
  type HoldPlan,
  mayWait,
  type Replaced,
  type ToHold,
} from './hold/hold.ts';
import { judge } from './judge/judge.ts';
import { lookUpUpstream, questionsOf } from './judge/questions.ts';
import { type Publication, type Published, publish } from './publish/publish.ts';
import { leavesWork, mayBeOpen } from './publish/pull-request.ts';
import { pushHashOf } from './push-hashes.ts';
import { keyToShow, requireKey } from './pr-key.ts';
import type { ClaimedUpdate, PushRun } from './push-run.ts';
import { parsePushOptions, type PushOptions } from './receive/push-options.ts';
import { deletedBranch, planCommands, type Received, receivePack } from './receive/receive.ts';
import { type BannerFacts, bannerLines, farewellLines, heldLines, type Withdrawn } from './reply/banner.ts';
import { countPush, previewed, Refusal, type RefusalCode, toRefusal } from './reply/refusal.ts';
import { isUpdate, type Publishable } from './verdict/verdict.ts';
import { withdraw } from './withdraw.ts';

/** What became of a push. */
export type Outcome =
  | { readonly kind: 'published'; readonly facts: BannerFacts }
  /** Accepted, and published later. */
  | HeldOutcome
  | { readonly kind: 'withdrawn'; readonly withdrawn: Withdrawn }
  /** None of its commands was accepted. */
  | { readonly kind: 'nothing-taken' }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

type Done = Exclude<Outcome, { kind: 'refused' }>;

/** Refusals that already come before everything else: panic, and the limits themselves. */
const TOLD_FIRST: ReadonlySet<RefusalCode> = new Set(['suspended', 'rate-limited']);

/** The end of an answer. */
export interface Conclusion extends ReportStatus {
  readonly outcome: Outcome;
  /** For the person, before the report. */
  readonly lines: readonly string[];
  /** Null: nothing has failed. */
  readonly finalLine: string | null;
}

export class PushSession {
  readonly #run: PushRun;
  readonly #startedAt: number;
  /** Gives back what was received. */
  #discard: () => Promise<void> = async () => {};
  /** What `conclude` is to do; it rejects if the push is refused. */
  #task: () => Promise<Done> = async () => ({ kind: 'nothing-taken' });
  #statuses: (reason: string | null) => readonly CommandStatus[] = () => [];
  #refNames: readonly string[] = [];
  /** Null: they could not be read. */
  #options: PushOptions | null = null;
  /** Set for a push that can only open a pull request, and therefore needs a place. */
  #pushHash: (() => Promise<string>) | undefined;
  /** For the log. Null: the push was refused before it was read, which is not logged. */
  #kind: 'push' | 'withdrawal' | null = null;

  constructor(run: PushRun) {
    this.#run = run;
    this.#startedAt = run.host.clock.now();
  }

  /** Reads the body to its end, or to its limit. Never rejects. */
  async receive(request: PushRequest | FaultyRequest, reader: ByteReader): Promise<void> {
    try {
      this.#task = await this.#begin(request, reader);
    } catch (error) {
      const refusal = toRefusal(error, this.#run.settings.client);
      this.#task = () => Promise.reject(refusal);
      await this.#giveBack();
      // A body over its limit is answered immediately.
      if (!(error instanceof BodyError && error.code === 'too-large')) await drain(reader);
    }
  }

  /** Does the work, and answers how it ended. Never rejects. */
  async conclude(): Promise<Conclusion> {
    const attempted = await this.#task().catch((error: unknown): Outcome => {
      this.#run.claims.failed(leavesWork(error));
      return { kind: 'refused', refusal: toRefusal(error, this.#run.settings.client) };
    });
    const full = await this.#refusedByLimit(attempted);
    if (full !== null) this.#statuses = this.#refuseAll;
    const outcome: Outcome = full === null ? attempted : { kind: 'refused', refusal: full };
    this.#tell(outcome);
    // Release the locks now, so that the next push does not wait until this answer has arrived.
    const { claims } = this.#run;
    this.#run.beside(outcome.kind === 'published' ? claims.endUpdate() : claims.end(true));
    const refusal = outcome.kind === 'refused' ? outcome.refusal : null;
    const reason = refusal?.finalLine ?? null;
    return {
      outcome,
      lines: linesOf(outcome),
      unpackStatus: refusal?.unpackStatus ?? 'ok',
      commandStatuses: this.#statuses(reason),
      // A preview has not failed: at an error on band 3, Git adds a sentence about a broken connection.
      finalLine: refusal?.preview ? null : reason,
    };
  }

  /**
   * Gives back everything. @param isAnswered the client has the answer, and will not push again for it. Never rejects.
   */
  async end(isAnswered: boolean): Promise<void> {
    await this.#giveBack();
    await this.#run.end(isAnswered);
  }

  /** In place of `conclude` and `end`, because the body was over its limit, which the HTTP status says. Never rejects. */
  async abandon(): Promise<void> {
    this.#tell({
      kind: 'refused',
      refusal: toRefusal(new BodyError('too-large'), this.#run.settings.client),
    });
    await this.end(true);
  }

  /** Panic and the client's own limits come first, whatever is wrong with the request (contract, 4.6). */
  async #begin(request: PushRequest | FaultyRequest, reader: ByteReader): Promise<() => Promise<Done>> {
    const { host, reply, settings } = this.#run;
    this.#refNames = refNamesOf(request);
    this.#statuses = this.#refuseAll;
    if (request.kind === 'faulty') {
      await this.#enter(false);
      throw request.fault;
    }
    const { commandList, pushOptions } = request;
    const parsed = parsePushOptions(pushOptions);
    const options = parsed.kind === 'valid' ? parsed.options : null;
    const { taken, refused } = planCommands(commandList);
    const deletedRef = deletedBranch(commandList);
    const isWithdrawal = deletedRef !== null || options?.withdraw === true;
    this.#options = options;
    if (taken !== null && options !== null && !options.preview && options.prHash === null) {
      this.#pushHash = () => pushHashOf(this.#run, { taken, options });
    }
    await this.#enter(isWithdrawal);
    if (isWithdrawal && options !== null && options.prHash !== null) {
      this.#kind = 'withdrawal';
      const { prHash, warnings } = options;
      await requireKey(this.#run, options, 'withdrawal');
      // A pack is of no use. Git sends none with a deletion.
      await drain(reader);
      await reply.note(...warnings);
      return async () => ({ kind: 'withdrawn', withdrawn: await withdraw(this.#run, prHash, deletedRef) });
    }
    this.#statuses = (reason) =>
      taken === null ? refused : [{ refName: taken.command.refName, reason }, ...refused];
    if (taken === null) {
      await drain(reader);
      return async () => ({ kind: 'nothing-taken' });
    }
    this.#kind = 'push';
    if (parsed.kind === 'invalid') throw new Refusal('options', parsed.message, []);
    await requireKey(this.#run, parsed.options, settings.prUpdatePolicy === 'key' ? 'update' : null);
    await reply.note(...parsed.options.warnings);
    const spools: Spool[] = [];
    const openSpool = (): Spool => {
      const spool = host.openSpool();
      spools.push(spool);
      return spool;
    };
    const discardSpools = async (): Promise<void> => {
      for (const spool of spools) await spool.discard();
    };
    this.#discard = discardSpools;
    const pack = await receivePack(reader, openSpool, host.memory);
    this.#discard = async () => {
      pack.kept.free();
      await discardSpools();
    };
    return () => this.#judgeAndPublish({ taken, commandList, options: parsed.options, pack });
  }

  /** @throws Refusal */
  async #enter(isWithdrawal: boolean): Promise<void> {
    // A push with invalid options fails anyway, so it need not be refused for a pause of the code host.
    const isPatient = this.#options === null || mayWait(this.#run, this.#options);
    const refusal = await this.#run.host.admission.enter(isWithdrawal, this.#pushHash, isPatient);
    if (refusal !== null) throw refusal;
  }

  /**
   * A client that has used up its limit is told so, whatever else is wrong with its push, unless the push updates an
   * open pull request. Null: the limit does not apply.
   */
  async #refusedByLimit(outcome: Outcome): Promise<Refusal | null> {
    const { host } = this.#run;
    const isRefused = outcome.kind === 'refused' && !TOLD_FIRST.has(outcome.refusal.code);
    if (!isRefused && outcome.kind !== 'nothing-taken') return null;
    if (this.#kind === 'withdrawal' || this.#options?.preview) return null;
    const prHash = this.#options?.prHash ?? null;
    if (prHash !== null && (await host.isOpen(prHash))) return null;
    return host.admission.refuseFull(this.#pushHash);
  }

  readonly #refuseAll = (reason: string | null): readonly CommandStatus[] =>
    this.#refNames.map((refName) => ({ refName, reason }));

  async #judgeAndPublish(received: Received): Promise<Done> {
    const { host, claims, reply } = this.#run;
    const { options, pack } = received;
    const { prHash } = options;
    const holding = new Holding(this.#run, received);
    const [listed, held] =
      prHash === null
        ? [null, null]
        : await Promise.all([claims.claimListed(prHash), host.heldPushes().find(prHash)]);
    const earlier = await holding.earlier(held);
    if (earlier?.kind === 'held') return earlier;
    // A push that names a hash is identified by that hash.
    if (prHash !== null) claims.holdIsKnown();
    const pushHash = await pushHashOf(this.#run, received);
    const isAsked = options.preview || prHash !== null;
    const full = isAsked && listed === null && held === null ? await host.admission.peek(pushHash) : null;
    // A made-up hash must not cost the host anything, and is an attempt like any other.
    if (full !== null && !options.preview)
      throw (await host.admission.refuseFull(async () => pushHash)) ?? full;
    // Do not tell the host the hash of a held push, not even in a preview. A listed hash is public already.
    const isUnheardOf = listed === null && holding.isUnheardOf(held);
    const judgeable = isUnheardOf ? { ...received, options: { ...options, prHash: null } } : received;
    const { push, claim, warnings } = await this.#judge(judgeable, listed, full);
    pack.kept.free(push.commits.byteLength);
    await reply.note(...warnings);
    const judged = { push, spool: pack.spool, pushHash, claim };
    for (let replaced = earlier; ;) {
      const done = await this.#publishOrHold(received, judged, holding, replaced);
      if (done !== null) return done;
      // The same push was held before. If not by its client, it goes on.
      const same = await holding.earlierSame();
      if (same?.kind === 'held') return same;
      claims.holdIsKnown();
      replaced = same;
    }
  }

  /** @param refusal of the pull request that it would open: a preview tells it. @throws Refusal, also for a preview */
  async #judge(received: Received, listed: ClaimedUpdate | null, refusal: Refusal | null) {
    const { host, settings } = this.#run;
    if (received.options.preview) {
      // Previews can be repeated without end and never reach the account's own check, so count them here.
      await host.admission.takeShare();
    } else {
      void host.connectAhead('push');
      void host.connectAhead('pull-request');
    }
    const upstream = await lookUpUpstream(this.#run);
    const now = Math.floor(host.clock.now() / 1000);
    const circumstances = { settings, listed, memory: host.memory, now, refusal };
    const { verdict, claim } = await judge(
      received,
      upstream,
      circumstances,
      questionsOf(this.#run, upstream),
    );
    if (verdict.kind === 'refused') throw verdict.refusal;
    if (verdict.kind === 'preview') throw previewed(verdict.preview);
    return { ...verdict, claim };
  }

  /**
   * @param replaced the held push that it takes the place of. @throws Refusal
   * @returns null: the same push was held before, and nothing was done. Not after `holdIsKnown`.
   */
  async #publishOrHold(
    { options, taken }: Received,
    judged: Omit<Publication, 'prHash' | 'place'> & ToHold,
    holding: Holding,
    replaced: Replaced | null,
  ): Promise<Done | null> {
    const { push, pushHash } = judged;
    const { host, settings, claims } = this.#run;
    const prHash = push.named?.prHash ?? replaced?.view.prHash ?? settings.newPrHash();
    const place = isUpdate(push) ? null : await host.admission.place(pushHash);
    const isReleased = replaced !== null;
    const hold = async (
      plan: HoldPlan,
      as: string,
      isAnother: boolean,
      failure?: unknown,
    ): Promise<Done | null> => {
      await place?.settle(isAnother);
      let held: Done | null = null;
      try {
        held = await holding.hold(plan, as, judged, replaced);
      } finally {
        if (held === null && !mayBeOpen(failure)) await place?.release();
      }
      return held;
    };
    const plan = await holding.plan(push, replaced);
    // If the same push was published before, its place belongs to that pull request.
    if (plan !== null) return hold(plan, prHash, !isReleased);
    try {
      const published = await publish(this.#run, { ...judged, prHash, place, isReleased });
      if (published === null) {
        await place?.release();
        return null;
      }
      await claims.endHold('published');
      const key = await keyToShow(this.#run, options, published.prHash);
      const { refName } = taken.command;
      return { kind: 'published', facts: this.#bannerOf(published, key, push, options, refName) };
    } catch (error) {
      if (!mayBeOpen(error)) await place?.release();
      // A retry must find what this attempt may have done, also if the push cannot be held now.
      if (leavesWork(error)) claims.keep();
      // An earlier attempt may have begun under another hash.
      return hold(holding.afterFailure(error), claims.begunAs ?? prHash, false, error);
    }
  }

  #bannerOf(
    { prHash, pullRequest, author, newRemarks }: Published,
    key: string | null,
    push: Publishable,
    { base, squash }: PushOptions,
    refName: string,
  ): BannerFacts {
    const settings = this.#run.settings;
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
      subscribeUrl: `${settings.notifyBaseUrl}/${pullRequestTopic(prHash)}`,
      remoteUrl: settings.remoteUrl(push.repository),
      refName,
    };
  }

  /** Releases what was received, and its memory. May be called more than once. */
  async #giveBack(): Promise<void> {
    await this.#discard();
    this.#run.host.memory.end();
  }

  #tell(outcome: Outcome): void {
    if (outcome.kind === 'nothing-taken') return;
    const refusal = outcome.kind === 'refused' ? outcome.refusal : null;
    const durationMs = this.#kind === 'push' ? this.#run.host.clock.now() - this.#startedAt : null;
    countPush(refusal, durationMs);
    if (this.#kind === null) return;
    const { logger } = this.#run;
    const facts = durationMs === null ? {} : { durationMs };
    const done = outcome.kind === 'held' ? 'delayed' : 'accepted';
    if (refusal === null) return logger.info(`${this.#kind} ${done}`, facts);
    if (refusal.preview !== null) return logger.info('push previewed', facts);
    const { code: reason, cause: error } = refusal;
    logger.warn(`${this.#kind} refused`, { ...facts, reason, ...(error !== undefined && { error }) });
  }
}

function refNamesOf(request: PushRequest | FaultyRequest): readonly string[] {
  return request.kind === 'faulty' ? request.refNames : request.commandList.map(({ refName }) => refName);
}

function linesOf(outcome: Outcome): readonly string[] {
  switch (outcome.kind) {
    case 'published':
      return bannerLines(outcome.facts);
    case 'held':
      return heldLines(outcome.facts);
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
