/**
 * The story of a withdrawal: a push that deletes a branch and names a pull request closes it, and removes its branch
 * from the fork. No pack follows, and no limit applies, because a withdrawal costs nothing.
 *
 * Each step can be repeated, so a withdrawal that failed half-way can be pushed again.
 */
import type { ByteReader } from '../git/byte-reader.ts';
import { closedEvent } from '../events/host-event.ts';
import type { GitClient } from '../git/git-client.ts';
import type { ClosedPullRequest, PullRequest } from '../host/code-host.ts';
import { HostError } from '../host/host-error.ts';
import { fullName, type RepositoryName } from '../host/repository-name.ts';
import type { Logger } from '../log.ts';
import { drain } from '../streams.ts';
import { Claims, wrongKey } from './pull-request/claims.ts';
import { deletedBranch } from './command/command-plan.ts';
import { HostSteps } from './reply/host-steps.ts';
import { countPush } from './reply/outcome.ts';
import type { PushSettings } from './preparation.ts';
import type { PushHost } from './push-host.ts';
import { type PushOptions, workBranch } from './command/push-options.ts';
import type { PushRun } from './push-run.ts';
import type { PushedRequest } from './pushed-request.ts';
import { findPullRequest, publicRepository } from './command/push-target.ts';
import { Refusal, toRefusal } from './reply/refusal.ts';
import { Reply, type WriteBytes } from './reply/reply.ts';

export interface WithdrawalRequest {
  readonly refName: string;
  readonly prHash: string;
  readonly options: PushOptions;
  readonly capabilities: ReadonlySet<string>;
}

/** Null if the push is anything else. */
export function withdrawalOf({ commandList, capabilities, parsed }: PushedRequest): WithdrawalRequest | null {
  const refName = deletedBranch(commandList);
  if (refName === null || parsed.kind === 'invalid' || parsed.options.prHash === null) return null;
  const { options } = parsed;
  return { refName, prHash: parsed.options.prHash, options, capabilities };
}

/** A pull request that is closed now. */
export interface Withdrawn {
  readonly prUrl: string;
  /** It was merged before, and its branch is gone. */
  readonly isMerged: boolean;
}

export class Withdrawal {
  readonly #run: PushRun;
  readonly #client: GitClient;
  readonly #needsKey: boolean;
  readonly #target: RepositoryName;
  readonly #request: WithdrawalRequest;
  readonly #claims: Claims;
  #result: Withdrawn | Refusal | null = null;

  constructor(
    host: PushHost,
    { prUpdatePolicy, client }: Pick<PushSettings, 'prUpdatePolicy' | 'client'>,
    target: RepositoryName,
    request: WithdrawalRequest,
    logger: Logger,
  ) {
    const reply = new Reply(request.capabilities);
    const steps = new HostSteps(host.clock, reply, host.transport.hostName);
    this.#run = { host, reply, steps, logger };
    this.#client = client;
    this.#needsKey = prUpdatePolicy === 'key';
    this.#target = target;
    this.#request = request;
    this.#claims = new Claims(host);
  }

  /** What became of it. Null before `conclude` has ended. */
  get result(): Withdrawn | Refusal | null {
    return this.#result;
  }

  /** Git sends no pack with deletions. Any other bytes are discarded. */
  async receive(reader: ByteReader): Promise<void> {
    await drain(reader);
  }

  /** Withdraws, and reports the result to the client; false if the client has gone. Never rejects. */
  async conclude(write: WriteBytes): Promise<boolean> {
    const { reply, logger } = this.#run;
    await reply.open(write);
    const refusal = await this.#withdraw().then(
      () => null,
      (error: unknown) => toRefusal(error, this.#client),
    );
    if (refusal !== null) this.#result = refusal;
    countPush(refusal, null);
    if (refusal === null) logger.info('pull request withdrawn');
    else {
      logger.warn('withdrawal refused', { error: refusal.cause ?? refusal });
      await reply.progress(...refusal.paragraph);
    }
    const reason = refusal?.finalLine ?? null;
    const commandStatuses = [{ refName: this.#request.refName, reason }];
    return reply.finish({ unpackStatus: 'ok', commandStatuses }, reason);
  }

  /** Releases what was claimed. Never rejects. */
  async end(isAnswered: boolean): Promise<void> {
    this.#run.host.memory.end();
    await this.#claims.end(isAnswered);
  }

  /** Replaces `conclude` and `end`: nothing is withdrawn. Never rejects. */
  async abandon(): Promise<void> {
    await this.end(true);
  }

  async #withdraw(): Promise<void> {
    const { prHash, options, refName } = this.#request;
    const { host, reply, steps } = this.#run;
    await reply.progress(...options.warnings);
    const key = this.#needsKey ? (options.prKey ?? '') : null;
    const [repository, botLogin, listed] = await Promise.all([
      publicRepository(this.#run, this.#target),
      steps.run('lookup', () => host.botLogin()),
      this.#claims.claimListed(prHash, key),
    ]);
    const pullRequest = await findPullRequest(this.#run, repository, botLogin, prHash);
    if (pullRequest === null) throw unknown(repository);
    const { isRecorded } = listed ?? (await this.#claims.claimPullRequest(prHash, key));
    if (this.#needsKey && !isRecorded) throw wrongKey();
    const closed = await steps.run('withdrawal', () =>
      host.repositories.closePullRequest(repository, pullRequest.number),
    );
    await Promise.all([
      steps.run('withdrawal', () => this.#removeBranch(pullRequest, workBranch(prHash))),
      this.#tell(pullRequest, closed),
    ]);
    this.#result = { prUrl: pullRequest.url, isMerged: closed.kind === 'merged' };
    await reply.progress(...farewell(pullRequest, closed, refName));
  }

  async #removeBranch({ fork }: PullRequest, branch: string): Promise<void> {
    if (fork === null) return;
    const { host } = this.#run;
    await host.repositories.deleteBranch(fork, branch).catch(async (error: unknown) => {
      if (!(error instanceof HostError) || error.code === 'unreachable') throw error;
      // An earlier attempt may have removed it.
      const { refs } = await host.transport.listRefs(fork, [`refs/heads/${branch}`], 'bot');
      if (refs.some(({ name }) => name === `refs/heads/${branch}`)) throw error;
    });
  }

  /**
   * The same event and key as the notifications feed would give if someone else had closed it, so it is published once.
   */
  async #tell({ number, url }: PullRequest, closed: ClosedPullRequest): Promise<void> {
    if (closed.kind === 'merged' || closed.at === null) return;
    const { host, logger } = this.#run;
    await host
      .pullRequest(this.#request.prHash)
      .tell(host.hostKey, [closedEvent(number, closed.at, url, 'withdrawn')], host.clock.now())
      .catch((error: unknown) => logger.error('a withdrawal could not be told', { error }));
  }
}

function unknown(repository: RepositoryName): Refusal {
  return new Refusal('there is no such pull request', [
    `No pull request of ${fullName(repository)} has that pr-hash.`,
  ]);
}

function farewell({ url }: PullRequest, { kind }: ClosedPullRequest, refName: string): string[] {
  const branch = refName.replace(/^refs\/(?:heads|for)\//, '');
  return [
    '',
    kind === 'merged'
      ? 'Your pull request was already merged. Its branch is removed.'
      : 'Your pull request is withdrawn.',
    `  PR URL:   ${url}`,
    '',
    `Git will say that ${branch} is deleted. Upstream still has it: "git fetch" restores it.`,
    '',
  ];
}
