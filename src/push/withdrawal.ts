/**
 * The story of a withdrawal: a push that deletes a branch and names a pull request closes it, and removes its branch
 * from the fork. No pack follows, and nothing is counted: whoever takes something back costs nobody anything.
 *
 * Each step can be repeated, so a withdrawal that failed half-way is simply pushed again.
 */
import type { ByteReader } from '../git/byte-reader.ts';
import { closedEvent } from '../events/host-event.ts';
import type { PushRequest } from '../git/push-request.ts';
import type { ClosedPullRequest, PullRequest } from '../host/github.ts';
import { HostError } from '../host/host-error.ts';
import { fullName, type RepositoryName } from '../host/repository-name.ts';
import type { Logger } from '../log.ts';
import { drain } from '../streams.ts';
import { Claims, wrongKey } from './claims.ts';
import { deletedBranch } from './command-plan.ts';
import { countPush } from './outcome.ts';
import type { PushHost } from './push-host.ts';
import { parsePushOptions, type PushOptions, workBranch } from './push-options.ts';
import { findPullRequest, publicRepository } from './push-target.ts';
import { hostStep, Refusal, toRefusal } from './refusal.ts';
import { Reply, type WriteBytes } from './reply.ts';

export interface WithdrawalRequest {
  readonly refName: string;
  readonly prHash: string;
  readonly options: PushOptions;
  readonly capabilities: ReadonlySet<string>;
}

/** Null if the push is anything else. */
export function withdrawalOf({
  commandList,
  pushOptions,
  capabilities,
}: PushRequest): WithdrawalRequest | null {
  const refName = deletedBranch(commandList);
  if (refName === null) return null;
  const parsed = parsePushOptions(pushOptions);
  if (parsed.kind === 'invalid' || parsed.options.prHash === null) return null;
  const { options } = parsed;
  return { refName, prHash: parsed.options.prHash, options, capabilities };
}

export class Withdrawal {
  readonly #host: PushHost;
  readonly #needsKey: boolean;
  readonly #target: RepositoryName;
  readonly #request: WithdrawalRequest;
  readonly #claims: Claims;
  readonly #reply: Reply;
  readonly #logger: Logger;

  constructor(
    host: PushHost,
    { prUpdatePolicy }: { prUpdatePolicy: 'hash' | 'key' },
    target: RepositoryName,
    request: WithdrawalRequest,
    logger: Logger,
  ) {
    this.#host = host;
    this.#needsKey = prUpdatePolicy === 'key';
    this.#target = target;
    this.#request = request;
    this.#claims = new Claims(host);
    this.#reply = new Reply(request.capabilities);
    this.#logger = logger;
  }

  /** Git sends no pack with deletions; whatever comes is thrown away. */
  async receive(reader: ByteReader): Promise<void> {
    await drain(reader);
  }

  /** Withdraws, and tells the client how it went; false if the client has gone. Never rejects. */
  async conclude(write: WriteBytes): Promise<boolean> {
    await this.#reply.open(write);
    const refusal = await this.#withdraw().then(
      () => null,
      (error: unknown) => toRefusal(error),
    );
    countPush(refusal, null);
    if (refusal === null) this.#logger.info('pull request withdrawn');
    else {
      this.#logger.warn('withdrawal refused', { error: refusal.cause ?? refusal });
      await this.#reply.progress(...refusal.paragraph);
    }
    const reason = refusal?.finalLine ?? null;
    const commandStatuses = [{ refName: this.#request.refName, reason }];
    return this.#reply.finish({ unpackStatus: 'ok', commandStatuses }, reason);
  }

  /** Gives back what was claimed. Never rejects. */
  async end(isAnswered: boolean): Promise<void> {
    await this.#claims.end(isAnswered);
  }

  async #withdraw(): Promise<void> {
    const { prHash, options, refName } = this.#request;
    await this.#reply.progress(...options.warnings);
    const [repository, botLogin, { isRecorded }] = await Promise.all([
      publicRepository(this.#host, this.#target),
      hostStep('lookup', () => this.#host.botLogin()),
      this.#claims.claimPullRequest(prHash, this.#needsKey ? (options.prKey ?? '') : null),
    ]);
    const pullRequest = await findPullRequest(this.#host, repository, botLogin, prHash);
    if (pullRequest === null) throw unknown(repository);
    if (this.#needsKey && !isRecorded) throw wrongKey();
    const closed = await hostStep('withdrawal', () =>
      this.#host.github.closePullRequest(repository, pullRequest.number),
    );
    await Promise.all([
      hostStep('withdrawal', () => this.#removeBranch(pullRequest, workBranch(prHash))),
      this.#tell(pullRequest, closed),
    ]);
    await this.#reply.progress(...farewell(pullRequest, closed, refName));
  }

  async #removeBranch({ fork }: PullRequest, branch: string): Promise<void> {
    if (fork === null) return;
    await this.#host.github.deleteBranch(fork, branch).catch(async (error: unknown) => {
      if (!(error instanceof HostError) || error.code === 'unreachable') throw error;
      // An earlier attempt may have removed it.
      const { refs } = await this.#host.transport.listRefs(fork, [`refs/heads/${branch}`], 'bot');
      if (refs.some(({ name }) => name === `refs/heads/${branch}`)) throw error;
    });
  }

  /** As the feed would tell it if someone else had closed it, and by the same key: it is told once. */
  async #tell({ number, url }: PullRequest, { closedAt, isMerged }: ClosedPullRequest): Promise<void> {
    if (isMerged || closedAt === null) return;
    await this.#host
      .pullRequest(this.#request.prHash)
      .tell([closedEvent(number, closedAt, url)], this.#host.clock.now())
      .catch((error: unknown) => this.#logger.error('a withdrawal could not be told', { error }));
  }
}

function unknown(repository: RepositoryName): Refusal {
  return new Refusal('there is no such pull request', [
    `No pull request of ${fullName(repository)} has that pr-hash.`,
  ]);
}

function farewell({ url }: PullRequest, { isMerged }: ClosedPullRequest, refName: string): string[] {
  const branch = refName.replace(/^refs\/(?:heads|for)\//, '');
  return [
    '',
    isMerged
      ? 'Your pull request was merged before; its branch is removed.'
      : 'Your pull request is withdrawn.',
    `  PR URL:   ${url}`,
    '',
    `Git will say that ${branch} is deleted. Upstream's is not: "git fetch" brings it back.`,
    '',
  ];
}
