/**
 * The story of a push: read the request, rewrite the pack on its way to the fork, open or update the pull request.
 *
 * Until the body has been read the client does not listen, so `receive` ends in a state and `conclude` tells it. Every
 * failure becomes a complete answer in-band that names the step; a branch that gets no pull request is taken away
 * again, so that pushing once more starts afresh. A push that dies in between is simply pushed again: see claims.ts.
 */
import type { ByteReader } from '../git/byte-reader.ts';
import type { PushRequest } from '../git/push-request.ts';
import type { Ref } from '../git/ref-advertisement.ts';
import type { RecordedPush } from '../durable/pull-request.ts';
import type { PullRequest } from '../host/github.ts';
import type { RepositoryName } from '../host/repository-name.ts';
import type { Logger } from '../log.ts';
import { pullRequestTopic } from '../notify/ntfy.ts';
import { BodyError, drain } from '../streams.ts';
import type { Place } from './admission.ts';
import { bannerLines } from './banner.ts';
import { Claims } from './claims.ts';
import { type CommandPlan, planCommands } from './command-plan.ts';
import { countPush } from './outcome.ts';
import { PackRelay } from './pack-relay.ts';
import { type Preparation, prepare, type PushSettings } from './preparation.ts';
import { squashedMessage } from './proposal.ts';
import { propose } from './propose.ts';
import type { PushHost } from './push-host.ts';
import { parsePushOptions, type PushOptions, workBranch } from './push-options.ts';
import type { Upstream } from './push-target.ts';
import { hostStep, Refusal, toRefusal } from './refusal.ts';
import { Reply, type WriteBytes } from './reply.ts';
import { rewriteHistory, type RewrittenHistory } from './rewriting.ts';
import { UpstreamHistory } from './upstream-history.ts';
import { WorkBranch } from './work-branch.ts';

/** What `receive` has found out by the time the body is read. */
interface Received extends Preparation {
  readonly options: PushOptions;
  readonly relay: PackRelay;
  readonly branch: WorkBranch;
}

export class Push {
  readonly #host: PushHost;
  readonly #settings: PushSettings;
  readonly #target: RepositoryName;
  readonly #request: PushRequest;
  readonly #commands: CommandPlan;
  readonly #claims: Claims;
  readonly #reply: Reply;
  readonly #logger: Logger;
  readonly #startedAt: number;
  /** What the second half tells: how far it came, or why it failed; null: there was nothing to take. */
  #outcome: Received | Refusal | null = null;
  #branch: WorkBranch | null = null;
  /** Among the pull requests that its address may open; null: it opens none, or none yet. */
  #place: Place | null = null;
  /** Whether a repetition would find something left to do. */
  #isUnfinished = false;

  constructor(
    host: PushHost,
    settings: PushSettings,
    target: RepositoryName,
    request: PushRequest,
    logger: Logger,
  ) {
    this.#host = host;
    this.#settings = settings;
    this.#target = target;
    this.#request = request;
    this.#commands = planCommands(request.commandList);
    this.#claims = new Claims(host);
    this.#reply = new Reply(request.capabilities);
    this.#logger = logger;
    this.#startedAt = host.clock.now();
  }

  /**
   * Reads the body to its end, whatever becomes of the push.
   * @throws BodyError `too-large`: the one failure that has an HTTP status.
   */
  async receive(reader: ByteReader): Promise<void> {
    try {
      this.#outcome = await this.#receivePack(reader);
    } catch (error) {
      if (error instanceof BodyError && error.code === 'too-large') {
        await Promise.all([this.#place?.release(), this.end(true)]);
        throw error;
      }
      this.#outcome = toRefusal(error);
      await drain(reader);
    }
  }

  /** Sends what is left to the host and tells the client how it went; false if the client has gone. Never rejects. */
  async conclude(write: WriteBytes): Promise<boolean> {
    await this.#reply.open(write);
    let outcome = this.#outcome;
    if (outcome !== null && !(outcome instanceof Refusal)) {
      outcome = await this.#finish(outcome).catch((error: unknown) => toRefusal(error));
    }
    const refusal = outcome instanceof Refusal ? outcome : null;
    if (refusal !== null) {
      this.#branch?.forget();
      await this.#place?.release();
    }
    if (this.#commands.taken !== null) this.#log(refusal);
    if (refusal !== null) await this.#reply.progress(...refusal.paragraph);
    return this.#reply.finish(
      { unpackStatus: refusal?.unpackStatus ?? 'ok', commandStatuses: this.#commandStatuses(refusal) },
      refusal?.finalLine ?? null,
    );
  }

  /** Gives back what the push holds. @param isAnswered the client has heard how it went. Never rejects. */
  async end(isAnswered: boolean): Promise<void> {
    await this.#claims.end(isAnswered && !this.#isUnfinished);
  }

  async #receivePack(reader: ByteReader): Promise<Received | null> {
    const { taken } = this.#commands;
    if (taken === null) {
      await drain(reader);
      return null;
    }
    const parsed = parsePushOptions(this.#request.pushOptions);
    if (parsed.kind === 'invalid') throw new Refusal(parsed.message, []);
    const { options } = parsed;
    await this.#reply.progress(...options.warnings);

    const prepared = await prepare({
      host: this.#host,
      settings: this.#settings,
      claims: this.#claims,
      reply: this.#reply,
      target: this.#target,
      taken,
      options,
      onPlace: (place) => (this.#place = place),
    });
    const { upstream, base, botLogin, claimed, continuation } = prepared;
    const advertised = new Set(upstream.refs.map(({ oid }) => oid));
    const tips = [base.oid, upstream.defaultBranch.oid];
    const history = new UpstreamHistory(this.#host.lister, upstream.repository, tips, advertised);
    await hostStep('history', () => history.reachBack());
    const rewritePlan = {
      identity: { name: botLogin, email: this.#settings.anonEmail },
      committedAt: claimed.intent.committedAt,
      known: continuation.prHash === options.prHash ? (claimed.update?.dates ?? []) : [],
      squash: options.squash ? squashedMessage.bind(null, options) : null,
    };
    const branch = new WorkBranch(this.#host, this.#reply, {
      repository: upstream.repository,
      branch: workBranch(continuation.prHash),
      mayExist: continuation.mayHaveBranch,
      writeTimeoutMs: this.#settings.writeTimeoutMs,
    });
    this.#branch = branch;
    const relay = new PackRelay({
      tip: taken.command.newId,
      history,
      rewrite: (commits, ground) => rewriteHistory(rewritePlan, commits, ground),
      openUpload: (rewritten) => this.#openUpload(upstream, base, branch, rewritten),
    });
    try {
      await relay.receive(reader);
    } catch (error) {
      await relay.abort();
      throw error;
    }
    return { ...prepared, options, relay, branch };
  }

  async #openUpload(upstream: Upstream, base: Ref, branch: WorkBranch, rewritten: RewrittenHistory) {
    await this.#reply.progress(...rewritten.warning);
    // What the new commits stand on may be the tip of yet another branch.
    const ground = upstream.refs.filter(
      ({ name, oid }) => name.startsWith('refs/heads/') && rewritten.ground.has(oid),
    );
    const needed = new Map([base, upstream.defaultBranch, ...ground].map((ref) => [ref.name, ref]));
    return branch.open([...needed.values()], rewritten);
  }

  /** From the last byte of the body to the pull request. */
  async #finish(received: Received): Promise<null> {
    const { relay, branch, continuation, options } = received;
    const { prHash, isUpdate } = continuation;
    await branch.complete(relay);
    const { tip, tipCommit, dates } = relay.rewritten as RewrittenHistory;
    const pullRequest = await propose(this.#host, this.#reply, this.#logger, {
      ...received,
      tipCommit,
      branch,
    });
    const needsKey = this.#settings.prUpdatePolicy === 'key';
    const newKey = needsKey && prHash !== options.prHash ? this.#settings.newPrKey() : null;
    await this.#record(received, pullRequest, { tip, dates: dates(), key: newKey });
    await this.#reply.progress(
      ...bannerLines({
        updated: isUpdate,
        prUrl: pullRequest.url,
        author: received.botLogin,
        branch: workBranch(prHash),
        prHash,
        prKey: newKey ?? (needsKey ? options.prKey : null),
        subscribeUrl: `${this.#settings.notifyBaseUrl}/${pullRequestTopic(prHash)}`,
        remoteUrl: this.#settings.remoteUrl,
        refName: this.#commands.taken?.command.refName ?? '',
      }),
    );
    return null;
  }

  /** The pull request stands, whether or not it can be written down; if not, pushing again will do it. */
  async #record(
    { upstream, continuation, claimed }: Received,
    { number, url }: PullRequest,
    push: Omit<RecordedPush, 'lease'>,
  ): Promise<void> {
    const { owner, name: repo } = upstream.repository;
    const { prHash } = continuation;
    const lease = claimed.update?.lease ?? null;
    const record = { prHash, owner, repo, number, url };
    const recording = this.#host
      .pullRequest(prHash)
      .record(record, { ...push, lease }, this.#host.clock.now());
    try {
      await Promise.all([recording, this.#place?.opened(record)]);
    } catch (error) {
      this.#isUnfinished = true;
      this.#logger.error('a pull request could not be recorded', { error });
      await this.#reply.progress(
        'It could not be written down here yet. Push the same again within the hour.',
      );
    }
  }

  #commandStatuses(refusal: Refusal | null): CommandPlan['refused'] {
    const { taken, refused } = this.#commands;
    if (taken === null) return refused;
    return [{ refName: taken.command.refName, reason: refusal?.finalLine ?? null }, ...refused];
  }

  #log(refusal: Refusal | null): void {
    const durationMs = this.#host.clock.now() - this.#startedAt;
    countPush(refusal, durationMs);
    if (refusal === null) this.#logger.info('push accepted', { durationMs });
    else this.#logger.warn('push refused', { durationMs, error: refusal.cause ?? refusal });
  }
}
