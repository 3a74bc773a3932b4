/**
 * One push from its first byte to its answer: the only place that knows the order.
 *
 *   receive()    the commands, the limits, then the pack to its last byte
 *   conclude()   judge, then publish; or withdraw
 *   end()        gives back what it holds, once the client has its answer
 *
 * The client does not listen until it has sent everything, so `receive` decides what is to be done, and `conclude` does
 * it. Every failure becomes a complete answer.
 */
import type { ByteReader } from '../git/wire/byte-reader.ts';
import type { FaultyRequest, PushRequest } from '../git/wire/push-request.ts';
import type { CommandStatus, ReportStatus } from '../git/wire/report-status.ts';
import { pullRequestTopic } from '../notify/ntfy.ts';
import { workBranch } from '../pr-hash.ts';
import type { RepositoryName } from '../repository-name.ts';
import { BodyError, drain } from '../streams/body.ts';
import { type ClaimedUpdate, Claims, HeldBefore } from './claims.ts';
import { Holding, type HoldPlan, mayWait, type ToHold } from './hold/holding.ts';
import { type HeldFacts, heldLines } from './hold/reply.ts';
import { judge } from './judge/judge.ts';
import { requiredKey } from './judge/pull-request.ts';
import { questionsOf } from './judge/questions.ts';
import { lookUpUpstream } from './judge/upstream.ts';
import { type Publication, type Published, publish } from './publish/publish.ts';
import { isUnknown, mayBeOpen } from './publish/pull-request.ts';
import { heldHashesOf, pushHashOf } from './push-hashes.ts';
import type { PushRun } from './push-run.ts';
import { deletedBranch, planCommands, type TakenCommand } from './receive/commands.ts';
import { parsePushOptions, type PushOptions, type PushOptionsResult } from './receive/push-options.ts';
import { type Received, receivePack } from './receive/receive.ts';
import { type BannerFacts, bannerLines } from './reply/banner.ts';
import { countPush } from './reply/outcome.ts';
import { previewed, Refusal, toRefusal } from './reply/refusal.ts';
import { isUpdate, type Publishable } from './verdict/verdict.ts';
import { farewellLines, withdraw, type WithdrawalRequest, type Withdrawn } from './withdraw.ts';

/** What became of a push. */
export type Outcome =
  | { readonly kind: 'published'; readonly facts: BannerFacts }
  /** Accepted, and published later. */
  | { readonly kind: 'held'; readonly facts: HeldFacts }
  | { readonly kind: 'withdrawn'; readonly withdrawn: Withdrawn }
  /** Of all its commands, none was accepted. */
  | { readonly kind: 'nothing-taken' }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

type Done = Exclude<Outcome, { kind: 'refused' }>;

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
  readonly #target: RepositoryName;
  readonly #startedAt: number;
  readonly #beside: Promise<void>[] = [];
  /** Gives back what was received. */
  #discard: () => Promise<void> = async () => {};
  /** What `conclude` is to do; it rejects if the push is refused. */
  #task: () => Promise<Done> = async () => ({ kind: 'nothing-taken' });
  #statuses: (reason: string | null) => readonly CommandStatus[] = () => [];
  #holding: Holding | null = null;
  /** What it is for the log; null: it was refused at the door, which nobody needs to know. */
  #kind: 'push' | 'withdrawal' | null = null;

  constructor(run: Omit<PushRun, 'target' | 'claims' | 'beside'>, target: RepositoryName) {
    this.#run = { ...run, target, claims: new Claims(run.host), beside: (work) => this.#beside.push(work) };
    this.#target = target;
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
    const outcome = await this.#task().catch((error: unknown): Outcome => {
      this.#run.claims.failed(isUnknown(error));
      return { kind: 'refused', refusal: toRefusal(error, this.#run.settings.client) };
    });
    this.#tell(outcome);
    // Whoever pushes next does not wait for this answer.
    this.#run.beside(outcome.kind === 'published' ? this.#run.claims.endUpdate() : this.#release(true));
    const refusal = outcome.kind === 'refused' ? outcome.refusal : null;
    const finalLine = refusal?.finalLine ?? null;
    return {
      outcome,
      lines: linesOf(outcome),
      unpackStatus: refusal?.unpackStatus ?? 'ok',
      commandStatuses: this.#statuses(finalLine),
      finalLine,
    };
  }

  /** Gives back everything. @param isAnswered the client has the answer, and will not push again for it. Never rejects. */
  async end(isAnswered: boolean): Promise<void> {
    await this.#giveBack();
    await Promise.all([this.#release(isAnswered), ...this.#beside]);
  }

  /** In place of `conclude` and `end`, because the body was over its limit, which the HTTP status says. Never rejects. */
  async abandon(): Promise<void> {
    this.#tell({
      kind: 'refused',
      refusal: toRefusal(new BodyError('too-large'), this.#run.settings.client),
    });
    await this.end(true);
  }

  /** Cheap refusals come first: what the request says, the client's own limits, panic. */
  async #begin(request: PushRequest | FaultyRequest, reader: ByteReader): Promise<() => Promise<Done>> {
    const { host, reply } = this.#run;
    this.#statuses = (reason) => refNamesOf(request).map((refName) => ({ refName, reason }));
    if (request.kind === 'faulty') throw request.fault;
    const { commandList, pushOptions } = request;
    const parsed = parsePushOptions(pushOptions);
    const deleted = deletedBranch(commandList);
    const withdrawing =
      parsed.kind === 'valid' && (parsed.options.withdraw || deleted !== null) ? parsed : null;
    const { taken, refused } = planCommands(commandList);
    const isWithdrawal = withdrawing !== null || deleted !== null;
    const isPatient = parsed.kind === 'valid' && mayWait(this.#run, parsed.options);
    const refusal = await host.admission.enter(isWithdrawal, this.#opening(parsed, taken), isPatient);
    if (refusal !== null) throw refusal;
    if (withdrawing !== null && withdrawing.options.prHash !== null) {
      this.#kind = 'withdrawal';
      const { prHash, prKey, warnings } = withdrawing.options;
      // A pack is of no use. Git sends none with a deletion.
      await drain(reader);
      await reply.note(...warnings);
      return () => this.#withdraw({ prHash, prKey, deletedRef: deleted });
    }
    const { command } = taken ?? {};
    this.#statuses = (reason) =>
      command === undefined ? refused : [{ refName: command.refName, reason }, ...refused];
    if (taken === null) {
      await drain(reader);
      return async () => ({ kind: 'nothing-taken' });
    }
    this.#kind = 'push';
    if (parsed.kind === 'invalid') throw new Refusal('options', parsed.message, []);
    const { options } = parsed;
    await reply.note(...options.warnings);
    const spool = host.openSpool();
    this.#discard = () => spool.discard();
    const pack = await receivePack(reader, spool, host.memory);
    this.#discard = async () => {
      pack.kept.free();
      await spool.discard();
    };
    return () => this.#judgeAndPublish({ taken, commandList, options, pack });
  }

  /** The hash of a push that needs a place, if it is known already that it does. */
  #opening(parsed: PushOptionsResult, taken: TakenCommand | null): (() => Promise<string>) | undefined {
    if (taken === null || parsed.kind === 'invalid') return undefined;
    const { options } = parsed;
    if (options.preview || options.prHash !== null) return undefined;
    return () => pushHashOf(this.#run, { taken, options });
  }

  async #judgeAndPublish(received: Received): Promise<Done> {
    const { host, reply } = this.#run;
    const { options, pack } = received;
    const key = requiredKey(this.#run.settings, options);
    const { refName } = received.taken.command;
    const holding = new Holding(this.#run, options, refName, await heldHashesOf(this.#run, received), key);
    this.#holding = holding;
    const [listed, held] =
      options.prHash === null
        ? [null, null]
        : await Promise.all([
            this.#run.claims.claimListed(options.prHash, key),
            host.holds.find(options.prHash),
          ]);
    const stillHeld = await holding.stillHeld(held);
    if (stillHeld !== null) return { kind: 'held', facts: stillHeld };
    // Whoever names a hash is known by that.
    if (options.prHash !== null) this.#run.claims.holdIsKnown();
    const pushHash = await pushHashOf(this.#run, received);
    const isAsked = options.preview || options.prHash !== null;
    const full = isAsked && listed === null && held === null ? await host.admission.peek(pushHash) : null;
    // A made-up hash must not cost the host anything.
    if (full !== null && !options.preview) throw full;
    const { push, claim, warnings } = await this.#judge(received, listed, holding, full);
    pack.kept.free(push.commits.byteLength);
    await reply.note(...warnings);
    const judged = { push, spool: pack.spool, pushHash, claim };
    try {
      return await this.#publishOrHold(received, judged, holding);
    } catch (error) {
      if (!(error instanceof HeldBefore)) throw error;
      const again = await holding.heldBefore();
      if (again !== null) return { kind: 'held', facts: again };
      this.#run.claims.holdIsKnown();
      return this.#publishOrHold(received, judged, holding);
    }
  }

  /** @param refusal of the pull request that it would open: a preview tells it. @throws Refusal, also for a preview */
  async #judge(received: Received, listed: ClaimedUpdate | null, holding: Holding, refusal: Refusal | null) {
    const { host } = this.#run;
    const { options } = received;
    if (options.preview) {
      // Whoever only looks may come again and again, and never gets to where a push asks the account.
      await host.admission.takeShare();
    } else {
      void host.connectAhead('push');
      void host.connectAhead('pull-request');
    }
    const upstream = await lookUpUpstream(this.#run, this.#target);
    const now = Math.floor(host.clock.now() / 1000);
    const circumstances = {
      settings: this.#run.settings,
      listed,
      memory: host.memory,
      now,
      refusal,
    };
    const questions = questionsOf(this.#run, upstream);
    const judgeable = holding.isUnheardOf ? { ...received, options: { ...options, prHash: null } } : received;
    const { verdict, claim } = await judge(judgeable, upstream, circumstances, questions);
    if (verdict.kind === 'refused') throw verdict.refusal;
    if (verdict.kind === 'preview') throw previewed(verdict.preview);
    return { ...verdict, claim };
  }

  /** @throws Refusal, HeldBefore */
  async #publishOrHold(
    { options, taken }: Received,
    judged: Omit<Publication, 'place'> & ToHold,
    holding: Holding,
  ): Promise<Done> {
    const { push, pushHash } = judged;
    const prHash = push.named?.prHash ?? holding.newPrHash();
    const run = { ...this.#run, settings: { ...this.#run.settings, newPrHash: () => prHash } };
    const place = isUpdate(push) ? null : await run.host.admission.place(pushHash);
    const hold = async (plan: HoldPlan, as: string, isAnother: boolean): Promise<Done> => {
      await place?.settle(isAnother);
      try {
        return { kind: 'held', facts: await holding.hold(plan, as, judged) };
      } catch (error) {
        await place?.release();
        throw error;
      }
    };
    const plan = await holding.plan(push);
    // The place of the same push that was published before is that of its pull request.
    if (plan !== null) return hold(plan, prHash, !holding.isReleasing);
    try {
      const published = await publish(run, { ...judged, place, isReleased: holding.isReleasing });
      await holding.published();
      return { kind: 'published', facts: this.#bannerOf(published, push, options, taken.command.refName) };
    } catch (error) {
      if (!mayBeOpen(error)) await place?.release();
      // An attempt before this one may have begun under another hash.
      return hold(holding.afterFailure(error), this.#run.claims.begunAs ?? prHash, false);
    }
  }

  async #withdraw(withdrawal: WithdrawalRequest): Promise<Done> {
    return { kind: 'withdrawn', withdrawn: await withdraw(this.#run, this.#target, withdrawal) };
  }

  #bannerOf(
    { prHash, pullRequest, newKey, author, newRemarks }: Published,
    push: Publishable,
    { base, prKey, squash }: PushOptions,
    refName: string,
  ): BannerFacts {
    const settings = this.#run.settings;
    return {
      updated: isUpdate(push),
      prUrl: pullRequest.url,
      author,
      branch: workBranch(prHash),
      prHash,
      prKey: newKey ?? (settings.prUpdatePolicy === 'key' ? prKey : null),
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

  /** What it has locked. May be called more than once. */
  async #release(isAnswered: boolean): Promise<void> {
    await Promise.all([this.#run.claims.end(isAnswered), this.#holding?.end()]);
  }

  /** What was received, and the memory that it takes. May be called more than once. */
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
    if (refusal === null) return logger.info(`${this.#kind} accepted`, facts);
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
    case 'refused':
      return outcome.refusal.paragraph;
    case 'nothing-taken':
      return [];
  }
}
