/**
 * The story of a push: read the request, rewrite the pack on its way to the fork, open or update the pull request.
 *
 * The client does not listen until it has sent its body, so `receive` ends in a state and `conclude` reports it. Every
 * failure becomes a complete in-band answer that names the step. A branch that gets no pull request is deleted again,
 * so that a retry starts afresh. If a push dies in between, the person pushes again: see claims.ts.
 */
import type { ByteReader } from '../git/byte-reader.ts';
import { utf8 } from '../git/bytes.ts';
import type { RecordedPush } from '../durable/pull-request.ts';
import type { PullRequest } from '../host/code-host.ts';
import type { RepositoryName } from '../host/repository-name.ts';
import type { Logger } from '../log.ts';
import { pullRequestTopic } from '../notify/ntfy.ts';
import { BodyError, drain } from '../streams.ts';
import type { Place } from './admission.ts';
import { type BannerFacts, bannerLines } from './reply/banner.ts';
import { Claims } from './pull-request/claims.ts';
import { type CommandPlan, planCommands } from './command/command-plan.ts';
import { HostSteps } from './reply/host-steps.ts';
import { IdentityGuard } from './rewriting/identity-guard.ts';
import { countPush } from './reply/outcome.ts';
import { PackRelay } from './fork/pack-relay.ts';
import { type Preparation, prepare, type PushSettings } from './preparation.ts';
import { previewed } from './preview.ts';
import { isUnknown, propose } from './pull-request/propose.ts';
import type { PushHost } from './push-host.ts';
import { type PushOptions, workBranch } from './command/push-options.ts';
import { bufferBytes } from './push-memory.ts';
import type { PushRun } from './push-run.ts';
import type { PushedRequest } from './pushed-request.ts';
import { planRelay } from './relay-plan.ts';
import { Refusal, toRefusal } from './reply/refusal.ts';
import { Reply, type WriteBytes } from './reply/reply.ts';
import type { RewrittenHistory } from './rewriting/rewriting.ts';
import { submoduleWarning } from './pull-request/submodules.ts';
import { WorkBranch } from './fork/work-branch.ts';

/** What `receive` knows when it has read the body. */
interface Received extends Preparation {
  readonly options: PushOptions;
  readonly relay: PackRelay;
  readonly branch: WorkBranch;
  readonly guard: IdentityGuard | null;
}

export class Push {
  readonly #run: PushRun;
  readonly #settings: PushSettings;
  readonly #target: RepositoryName;
  readonly #request: PushedRequest;
  readonly #commands: CommandPlan;
  readonly #claims: Claims;
  readonly #startedAt: number;
  /** Its result, for the second half: how far it came, or why it failed; null if no command was accepted. */
  #outcome: Received | Refusal | null = null;
  #branch: WorkBranch | null = null;
  #relay: PackRelay | null = null;
  /** Its place among the pull requests that its address may open; null if it opens none, or none yet. */
  #place: Place | null = null;
  /** What became of it; null before `conclude` has ended, or if no command was accepted. */
  #result: BannerFacts | Refusal | null = null;
  /** Whether a retry would have something left to do. */
  #isUnfinished = false;

  constructor(
    host: PushHost,
    settings: PushSettings,
    target: RepositoryName,
    request: PushedRequest,
    logger: Logger,
  ) {
    const reply = new Reply(request.capabilities);
    const steps = new HostSteps(host.clock, reply, host.transport.hostName);
    this.#run = { host, reply, steps, logger };
    this.#settings = settings;
    this.#target = target;
    this.#request = request;
    this.#commands = planCommands(request.commandList);
    this.#claims = new Claims(host);
    this.#startedAt = host.clock.now();
  }

  /** The pull request that it has opened or updated, or why not. Null before `conclude` has ended. */
  get result(): BannerFacts | Refusal | null {
    return this.#result;
  }

  /** Reads the body to its end or to its limit, even if the push fails. Never rejects. */
  async receive(reader: ByteReader): Promise<void> {
    try {
      this.#outcome = await this.#receivePack(reader);
    } catch (error) {
      this.#outcome = toRefusal(error, this.#settings.client);
      this.#giveMemoryBack();
      // A body over its limit is answered immediately.
      if (!(error instanceof BodyError && error.code === 'too-large')) await drain(reader);
    }
  }

  /** Sends the rest to the host and reports the result to the client; false if the client has gone. Never rejects. */
  async conclude(write: WriteBytes): Promise<boolean> {
    const { reply } = this.#run;
    await reply.open(write);
    let outcome = this.#outcome;
    if (outcome !== null && !(outcome instanceof Refusal)) {
      outcome = await this.#finish(outcome).catch((error: unknown) => this.#failed(error));
    }
    const refusal = outcome instanceof Refusal ? outcome : null;
    if (refusal !== null) {
      this.#result = refusal;
      // An attempt before this one was never answered: what it did is not to be forgotten because this one failed.
      this.#isUnfinished ||= this.#claims.isRepeated;
      this.#branch?.forget();
      await this.#place?.release();
    }
    if (this.#commands.taken !== null) this.#log(refusal);
    if (refusal !== null) await reply.progress(...refusal.paragraph);
    return reply.finish(
      { unpackStatus: refusal?.unpackStatus ?? 'ok', commandStatuses: this.#commandStatuses(refusal) },
      refusal?.finalLine ?? null,
    );
  }

  /** The host may have carried it out anyway. A retry of the same push then finds the result. */
  #failed(error: unknown): Refusal {
    this.#isUnfinished ||= isUnknown(error);
    return toRefusal(error, this.#settings.client);
  }

  /** Releases what the push holds. @param isAnswered the client has received the result. Never rejects. */
  async end(isAnswered: boolean): Promise<void> {
    this.#giveMemoryBack();
    await Promise.all([
      this.#claims.end(isAnswered && !this.#isUnfinished),
      this.#branch?.settle(),
      this.#run.host.admission.leave(),
    ]);
    this.#run.host.memory.end();
  }

  /** Replaces `conclude` and `end` if the body was over its limit, which the HTTP status says. Never rejects. */
  async abandon(): Promise<void> {
    if (this.#outcome instanceof Refusal) this.#log(this.#outcome);
    await Promise.all([this.#place?.release(), this.end(!this.#claims.isRepeated)]);
  }

  async #receivePack(reader: ByteReader): Promise<Received | null> {
    const { taken } = this.#commands;
    if (taken === null) {
      await drain(reader);
      return null;
    }
    const { parsed } = this.#request;
    if (parsed.kind === 'invalid') throw new Refusal(parsed.message, []);
    const { options } = parsed;
    const { memory } = this.#run.host;
    await memory.makeRoom(bufferBytes(0));
    memory.use(bufferBytes(0));
    await this.#run.reply.progress(...options.warnings);
    if (!options.preview) {
      void this.#run.host.connectAhead('push');
      void this.#run.host.connectAhead('pull-request');
    }

    const prepared = await prepare({
      run: this.#run,
      settings: this.#settings,
      claims: this.#claims,
      target: this.#target,
      taken,
      options,
      onPlace: (place) => (this.#place = place),
    });
    const { upstream, continuation, botLogin } = prepared;
    const branch = new WorkBranch(this.#run, {
      repository: upstream.repository,
      branch: workBranch(continuation.prHash),
      mayExist: continuation.mayHaveBranch,
      writeTimeoutMs: this.#settings.writeTimeoutMs,
    });
    this.#branch = branch;
    const guard = this.#guardFor(options, botLogin);
    const plan = await planRelay({
      run: this.#run,
      settings: this.#settings,
      taken,
      commandList: this.#request.commandList,
      prepared,
      options,
      branch,
      guard,
    });
    const relay = new PackRelay(plan);
    this.#relay = relay;
    try {
      await relay.receive(reader);
    } catch (error) {
      await relay.abort();
      throw error;
    }
    return { ...prepared, options, relay, branch, guard };
  }

  #giveMemoryBack(): void {
    this.#relay?.free();
    this.#run.host.memory.release();
  }

  /** Null if the check is off. */
  #guardFor({ preview, publishNames }: PushOptions, botLogin: string): IdentityGuard | null {
    const { identityCheck, anonEmail } = this.#settings;
    if (identityCheck === 'off') return null;
    const refuses = identityCheck === 'refuse' && !publishNames && !preview;
    return new IdentityGuard([botLogin, anonEmail], refuses);
  }

  /** From the last byte of the body to the pull request. */
  async #finish(received: Received): Promise<null> {
    const { relay, branch, continuation, options, guard } = received;
    const { prHash, isUpdate } = continuation;
    // A refusal may come while the fork is made ready, also a likely one: if the fork waited, the host would know that
    // a part of the person's name may be in the push. What is only told comes first.
    if (guard?.refuses !== true) await relay.cleared;
    if (options.preview) {
      throw previewed({ prepared: received, options, relay, guard });
    }
    await this.#run.reply.progress(...(guard?.warnings ?? []));
    void this.#run.host.connectAhead('pull-request');
    await branch.complete(relay);
    const { tip, tipCommit, dates, withNewIds } = relay.rewritten as RewrittenHistory;
    const pullRequest = await propose(this.#run, {
      ...received,
      options: withTexts(options, withNewIds),
      tipCommit,
      branch,
    }).catch((error: unknown) => {
      if (isUnknown(error)) this.#keepPlace();
      throw error;
    });
    const needsKey = this.#settings.prUpdatePolicy === 'key';
    const newKey = needsKey && prHash !== options.prHash ? this.#settings.newPrKey() : null;
    const [submodules] = await Promise.all([
      this.#submoduleWarning(received, pullRequest),
      this.#record(received, pullRequest, { tip, dates: dates(), key: newKey }),
    ]);
    await this.#run.reply.progress(...submodules);
    const facts: BannerFacts = {
      updated: isUpdate,
      prUrl: pullRequest.url,
      author: received.botLogin,
      branch: workBranch(prHash),
      prHash,
      prKey: newKey ?? (needsKey ? options.prKey : null),
      base: options.base,
      pageUrl: this.#settings.pageUrl(prHash),
      subscribeUrl: `${this.#settings.notifyBaseUrl}/${pullRequestTopic(prHash)}`,
      remoteUrl: this.#settings.remoteUrl(received.upstream.repository),
      refName: this.#commands.taken?.command.refName ?? '',
    };
    await this.#run.reply.progress(...bannerLines(facts));
    this.#result = facts;
    return null;
  }

  /** A retry has the same one. */
  #keepPlace(): void {
    this.#place?.keep();
    this.#place = null;
  }

  async #submoduleWarning(
    { upstream, hasSubmodules, guard }: Received,
    { number }: PullRequest,
  ): Promise<readonly string[]> {
    const isWorthAsking = hasSubmodules || guard?.hasSeenSubmodules === true;
    return isWorthAsking ? submoduleWarning(this.#run, upstream.repository, number) : [];
  }

  /** The pull request is open, whether or not it can be recorded. If not, a retry records it. */
  async #record(
    { upstream, continuation, claimed }: Received,
    { number, url }: PullRequest,
    push: Omit<RecordedPush, 'lease'>,
  ): Promise<void> {
    const { owner, name: repo } = upstream.repository;
    const { prHash } = continuation;
    const lease = claimed.update?.lease ?? null;
    const { host, reply, logger } = this.#run;
    const record = { prHash, host: host.hostKey, owner, repo, number, url };
    const recording = host.pullRequest(prHash).record(record, { ...push, lease }, host.clock.now());
    try {
      await Promise.all([recording, this.#place?.opened(record)]);
    } catch (error) {
      this.#isUnfinished = true;
      logger.error('a pull request could not be recorded', { error });
      await reply.progress(
        'The service could not record it yet. Push the same commits again within the hour.',
      );
    }
  }

  #commandStatuses(refusal: Refusal | null): CommandPlan['refused'] {
    const { taken, refused } = this.#commands;
    if (taken === null) return refused;
    return [{ refName: taken.command.refName, reason: refusal?.finalLine ?? null }, ...refused];
  }

  #log(refusal: Refusal | null): void {
    const { host, logger } = this.#run;
    const durationMs = host.clock.now() - this.#startedAt;
    countPush(refusal, durationMs);
    if (refusal === null) logger.info('push accepted', { durationMs });
    else logger.warn('push refused', { durationMs, error: refusal.cause ?? refusal });
  }
}

/** The options with new ids in place of the original ones that their texts name. */
function withTexts(options: PushOptions, withNewIds: RewrittenHistory['withNewIds']): PushOptions {
  const renamed = (text: string | null): string | null =>
    text === null ? null : Buffer.from(withNewIds(utf8(text))).toString();
  return { ...options, title: renamed(options.title), description: renamed(options.description) };
}
