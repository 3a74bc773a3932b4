/** The pull request on the host once its branch stands: opened, found again after an attempt that died, or edited. */
import type { Commit } from '../git/commit.ts';
import type { Ref } from '../git/ref-advertisement.ts';
import { headOf, type PullRequest } from '../host/github.ts';
import { HostError } from '../host/host-error.ts';
import type { Logger } from '../log.ts';
import { proposedText } from './proposal.ts';
import type { PushHost } from './push-host.ts';
import { type PushOptions, workBranch } from './push-options.ts';
import { type Continuation, findPullRequest, type Upstream } from './push-target.ts';
import { hostStep } from './refusal.ts';
import type { Reply } from './reply.ts';
import type { WorkBranch } from './work-branch.ts';

export interface Proposal {
  readonly upstream: Upstream;
  readonly base: Ref;
  readonly botLogin: string;
  readonly continuation: Continuation;
  readonly options: PushOptions;
  readonly tipCommit: Commit;
  readonly branch: WorkBranch;
}

/** @throws Refusal */
export async function propose(
  host: PushHost,
  reply: Reply,
  logger: Logger,
  proposal: Proposal,
): Promise<PullRequest> {
  const { pullRequest, isUpdate } = proposal.continuation;
  if (isUpdate && pullRequest !== null) return edit(host, reply, proposal, pullRequest);
  if (pullRequest?.isOpen) return pullRequest;
  await reply.progress('Opening the pull request ...');
  return open(host, proposal).catch(async (error: unknown) => {
    const found = await findOpen(host, proposal);
    if (found !== null) return found;
    // A branch without a pull request helps nobody; one that had a pull request before is not ours to take.
    if (pullRequest === null) {
      await proposal.branch.drop((failure) =>
        logger.warn('a branch without a pull request stays on the fork', { error: failure }),
      );
    }
    throw error;
  });
}

function open(host: PushHost, { upstream, base, branch, continuation, options, tipCommit }: Proposal) {
  return hostStep('pull-request', () =>
    host.github.openPullRequest(upstream.repository, {
      head: headOf(branch.fork, workBranch(continuation.prHash)),
      base: branchName(base),
      ...proposedText(options, tipCommit),
    }),
  );
}

/** Another attempt at the same push may have been faster. */
async function findOpen(
  host: PushHost,
  { upstream, botLogin, continuation }: Proposal,
): Promise<PullRequest | null> {
  const find = findPullRequest(host, upstream.repository, botLogin, continuation.prHash);
  const found = await find.catch(() => null);
  return found?.isOpen ? found : null;
}

/** An open pull request keeps its text and base unless the push names others. The commits are there in any case. */
async function edit(
  host: PushHost,
  reply: Reply,
  { upstream, base, options }: Proposal,
  pullRequest: PullRequest,
): Promise<PullRequest> {
  const changes = {
    ...(options.title !== null && { title: options.title }),
    ...(options.description !== null && { body: options.description }),
    ...(options.base !== null && options.base !== pullRequest.base && { base: branchName(base) }),
  };
  if (Object.keys(changes).length === 0) return pullRequest;
  try {
    await host.github.editPullRequest(upstream.repository, pullRequest.number, changes);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    await reply.progress(`Title, description or base could not be changed. ${error.publicMessage}`);
  }
  return pullRequest;
}

function branchName({ name }: Ref): string {
  return name.slice('refs/heads/'.length);
}
