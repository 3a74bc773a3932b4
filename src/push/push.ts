/**
 * The story of a push: read the request, rewrite the pack on its way to the fork, open or update the pull request.
 *
 * Until the body has been read the client does not listen, so `receive` ends in a state and `conclude` tells it. Every
 * failure becomes a complete answer in-band that names the step; a branch that gets no pull request is taken away
 * again, so that pushing once more starts afresh.
 */
import type { ByteReader } from '../git/byte-reader.ts';
import { pullRequestText } from '../git/commit-message.ts';
import { ZERO_OID } from '../git/oid.ts';
import type { PushRequest } from '../git/push-request.ts';
import type { Ref } from '../git/ref-advertisement.ts';
import { headOf, type PullRequest } from '../host/github.ts';
import type { PushReport } from '../host/git-transport.ts';
import { HostError, hostText } from '../host/host-error.ts';
import type { RepositoryName } from '../host/repository-name.ts';
import type { Logger } from '../log.ts';
import { pullRequestTopic } from '../notify/ntfy.ts';
import { BodyError, drain } from '../streams.ts';
import { bannerLines } from './banner.ts';
import { type CommandPlan, planCommands } from './command-plan.ts';
import { ensureFork, forgetFork, type ReadyFork, syncFork } from './fork.ts';
import { PackRelay, type RewrittenHistory } from './pack-relay.ts';
import type { PushHost } from './push-host.ts';
import { parsePushOptions, workBranch } from './push-options.ts';
import {
  checkPolicy,
  chooseBase,
  type Continuation,
  findContinuation,
  lookUpUpstream,
  type Upstream,
} from './push-target.ts';
import { hostStep, Refusal, toRefusal } from './refusal.ts';
import { Reply, type WriteBytes } from './reply.ts';
import { Upload } from './upload.ts';
import { UpstreamHistory } from './upstream-history.ts';

export interface PushSettings {
  readonly anonEmail: string;
  readonly maxRepositoryMb: number;
  readonly writeTimeoutMs: number;
  readonly notifyBaseUrl: string;
  /** The address that was pushed to, as the person would type it. */
  readonly remoteUrl: string;
  /** A new pr_hash. */
  newPrHash(): string;
}

/** What `receive` has found out by the time the body is read. */
interface Received {
  readonly relay: PackRelay;
  readonly upstream: Upstream;
  readonly base: Ref;
  readonly botLogin: string;
  readonly continuation: Continuation;
}

export class Push {
  readonly #host: PushHost;
  readonly #settings: PushSettings;
  readonly #target: RepositoryName;
  readonly #request: PushRequest;
  readonly #commands: CommandPlan;
  readonly #reply: Reply;
  readonly #logger: Logger;
  readonly #startedAt: number;
  /** What the second half tells: how far it came, or why it failed; null: there was nothing to take. */
  #outcome: Received | Refusal | null = null;
  #readyFork: ReadyFork | null = null;

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
      if (error instanceof BodyError && error.code === 'too-large') throw error;
      this.#outcome = toRefusal(error);
      await drain(reader);
    }
  }

  /** Sends what is left to the host and tells the client how it went. Never rejects. */
  async conclude(write: WriteBytes): Promise<void> {
    await this.#reply.open(write);
    let outcome = this.#outcome;
    if (outcome !== null && !(outcome instanceof Refusal)) {
      outcome = await this.#finish(outcome).catch((error: unknown) => toRefusal(error));
    }
    const refusal = outcome instanceof Refusal ? outcome : null;
    if (refusal !== null && this.#readyFork !== null) forgetFork(this.#host, this.#readyFork.repository);
    if (this.#commands.taken !== null) this.#log(refusal);
    if (refusal !== null) await this.#reply.progress('', ...refusal.lines, '');
    await this.#reply.finish(
      { unpackStatus: refusal?.unpackStatus ?? 'ok', commandStatuses: this.#commandStatuses(refusal) },
      refusal?.finalLine ?? null,
    );
  }

  async #receivePack(reader: ByteReader): Promise<Received | null> {
    const { taken } = this.#commands;
    if (taken === null) {
      await drain(reader);
      return null;
    }
    const parsed = parsePushOptions(this.#request.pushOptions);
    if (parsed.kind === 'invalid') throw new Refusal(parsed.message, []);
    await this.#reply.progress(...parsed.options.warnings);

    const [upstream, botLogin, policy] = await Promise.all([
      lookUpUpstream(this.#host, this.#target, this.#settings.maxRepositoryMb),
      hostStep('lookup', () => this.#host.botLogin()),
      this.#host.policy(this.#target),
    ]);
    checkPolicy(policy, upstream);
    const continuation = await findContinuation(
      this.#host,
      upstream,
      botLogin,
      parsed.options.prHash,
      this.#settings.newPrHash(),
    );
    if (continuation.notice !== null) await this.#reply.progress(continuation.notice);

    const base = chooseBase(taken.target, upstream);
    const advertised = new Set(upstream.refs.map(({ oid }) => oid));
    const tips = [base.oid, upstream.defaultBranch.oid];
    const history = new UpstreamHistory(this.#host.lister, upstream.repository, tips, advertised);
    await hostStep('history', () => history.reachBack());
    const relay = new PackRelay({
      tip: taken.command.newId,
      history,
      identity: { name: botLogin, email: this.#settings.anonEmail },
      committedAt: Math.floor(this.#host.clock.now() / 1000),
      openUpload: (rewritten) => this.#openUpload(upstream, base, continuation, rewritten),
    });
    try {
      await relay.receive(reader);
    } catch (error) {
      await relay.abort();
      throw error;
    }
    return { relay, upstream, base, botLogin, continuation };
  }

  async #openUpload(
    upstream: Upstream,
    base: Ref,
    continuation: Continuation,
    rewritten: RewrittenHistory,
  ): Promise<Upload> {
    const branch = workBranch(continuation.prHash);
    // What the new commits stand on may be the tip of yet another branch.
    const ground = upstream.refs.filter(
      ({ name, oid }) => name.startsWith('refs/heads/') && rewritten.ground.has(oid),
    );
    const needed = new Map([base, upstream.defaultBranch, ...ground].map((ref) => [ref.name, ref]));
    const refs = [...needed.values()];
    const isNew = continuation.pullRequest === null;
    await this.#reply.progress('Preparing the fork ...');
    const ready = await hostStep('fork', () =>
      ensureFork(this.#host, upstream.repository, refs, branch, isNew),
    );
    await hostStep('sync', () => syncFork(this.#host, ready, refs));
    const commits =
      rewritten.commitCount === 1 ? '1 anonymous commit' : `${rewritten.commitCount} anonymous commits`;
    await this.#reply.progress(`Sending ${commits} ...`);
    this.#readyFork = ready;
    const target = { fork: ready.fork, branch, oldTip: ready.workBranchTip, newTip: rewritten.tip };
    return new Upload(this.#host.transport, target, this.#settings.writeTimeoutMs);
  }

  /** From the last byte of the body to the pull request. */
  async #finish(received: Received): Promise<null> {
    const { relay, continuation } = received;
    const branch = workBranch(continuation.prHash);
    await this.#sendRest(relay, branch);
    const { fork, workBranchTip } = this.#readyFork as ReadyFork;
    const pullRequest = await this.#openPullRequest(received, fork).catch(async (error: unknown) => {
      // A branch without a pull request helps nobody; one that was there before is not ours to take.
      if (workBranchTip === ZERO_OID) await this.#dropBranch(fork, branch);
      throw error;
    });
    const updated = continuation.pullRequest?.isOpen === true;
    await this.#record(received, pullRequest, updated);
    await this.#reply.progress(
      ...bannerLines({
        updated,
        prUrl: pullRequest.url,
        author: received.botLogin,
        branch,
        prHash: continuation.prHash,
        subscribeUrl: `${this.#settings.notifyBaseUrl}/${pullRequestTopic(continuation.prHash)}`,
        remoteUrl: this.#settings.remoteUrl,
        refName: this.#commands.taken?.command.refName ?? '',
      }),
    );
    return null;
  }

  async #sendRest(relay: PackRelay, branch: string): Promise<void> {
    try {
      const { report } = await relay.finish();
      const reason = refusalOf(report);
      if (reason !== null)
        throw new Refusal('the code host refused the commits', hostLines(reason, report.messages));
    } catch (error) {
      await relay.abort();
      if (!(await this.#hasArrived(relay, branch, error))) throw error;
    }
  }

  /** After a connection that broke: the host may have taken the push all the same. */
  async #hasArrived(relay: PackRelay, branch: string, error: unknown): Promise<boolean> {
    const isOpen =
      error instanceof Refusal && error.cause instanceof HostError && error.cause.code === 'unreachable';
    if (!isOpen || this.#readyFork === null) return false;
    const list = await this.#host.transport
      .listRefs(this.#readyFork.fork, [`refs/heads/${branch}`], 'bot')
      .catch(() => null);
    return list?.refs.some(({ oid }) => oid === relay.rewritten?.tip) ?? false;
  }

  async #openPullRequest(received: Received, fork: RepositoryName): Promise<PullRequest> {
    const { upstream, continuation, relay } = received;
    if (continuation.pullRequest?.isOpen) return continuation.pullRequest;
    await this.#reply.progress('Opening the pull request ...');
    const { tipCommit } = relay.rewritten as RewrittenHistory;
    return hostStep('pull-request', () =>
      this.#host.github.openPullRequest(upstream.repository, {
        head: headOf(fork, workBranch(continuation.prHash)),
        base: received.base.name.slice('refs/heads/'.length),
        ...pullRequestText(tipCommit),
      }),
    );
  }

  /** The pull request stands; that it could not be written down costs its notifications, not the push. */
  async #record(
    { upstream, continuation }: Received,
    pullRequest: PullRequest,
    updated: boolean,
  ): Promise<void> {
    const { owner, name: repo } = upstream.repository;
    const { number, url } = pullRequest;
    const record = { prHash: continuation.prHash, owner, repo, number, url };
    await this.#host
      .record(record, updated ? 'updated' : 'opened')
      .catch((error: unknown) => this.#logger.error('a pull request could not be recorded', { error }));
  }

  async #dropBranch(fork: RepositoryName, branch: string): Promise<void> {
    await this.#host.github
      .deleteBranch(fork, branch)
      .catch((error: unknown) =>
        this.#logger.warn('a branch without a pull request stays on the fork', { error }),
      );
  }

  #commandStatuses(refusal: Refusal | null): CommandStatuses {
    const { taken, refused } = this.#commands;
    if (taken === null) return refused;
    return [{ refName: taken.command.refName, reason: refusal?.finalLine ?? null }, ...refused];
  }

  #log(refusal: Refusal | null): void {
    const durationMs = this.#host.clock.now() - this.#startedAt;
    if (refusal === null) this.#logger.info('push accepted', { durationMs });
    else this.#logger.warn('push refused', { durationMs, error: refusal.cause ?? refusal });
  }
}

type CommandStatuses = CommandPlan['refused'];

/** Why the host did not take the push; null if it did. */
function refusalOf({ unpackStatus, commandStatuses }: PushReport): string | null {
  if (unpackStatus !== 'ok') return `unpack ${unpackStatus}`;
  const [status] = commandStatuses;
  return status === undefined ? 'no answer for the branch' : status.reason;
}

/** The host's own words, line by line; they say which of its rules the push broke. */
function hostLines(reason: string, messages: string): string[] {
  const lines = messages.split('\n').map(hostText).filter(Boolean).slice(0, 20);
  return [`The code host says: ${hostText(reason)}`, ...lines.map((line) => `  ${line}`)];
}
