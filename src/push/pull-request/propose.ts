/**
 * The pull request on the host, once its branch is there: opens it, finds it again after an attempt that died, or edits
 * it.
 */
import type { Commit } from '../../git/commit.ts';
import type { Ref } from '../../git/ref-advertisement.ts';
import type { PullRequest } from '../../host/code-host.ts';
import { HostError } from '../../host/host-error.ts';
import { proposedText, withFooter } from './proposal.ts';
import { type PushOptions, workBranch } from '../command/push-options.ts';
import type { PushRun } from '../push-run.ts';
import { type Base, type Continuation, findPullRequest, type Upstream } from '../command/push-target.ts';
import { Refusal } from '../reply/refusal.ts';
import type { WorkBranch } from '../fork/work-branch.ts';

export interface Proposal {
  readonly upstream: Upstream;
  readonly base: Base;
  readonly botLogin: string;
  readonly continuation: Continuation;
  readonly options: PushOptions;
  readonly tipCommit: Commit;
  readonly branch: WorkBranch;
  /** What the text ends with; may be empty. */
  readonly footer: string;
}

/** @throws Refusal; see `isUnknown` for what it leaves open. */
export async function propose(run: PushRun, proposal: Proposal): Promise<PullRequest> {
  const { pullRequest, isUpdate, mayHaveBranch } = proposal.continuation;
  if (isUpdate && pullRequest !== null) return edit(run, proposal, pullRequest);
  if (pullRequest?.isOpen) return pullRequest;
  await run.reply.progress('Opening the pull request ...');
  return open(run, proposal).catch(async (error: unknown) => {
    const found = await findOpen(run, proposal);
    if (found !== null) return found;
    // A branch without a pull request helps nobody. But while an attempt may have opened one, this or an earlier one,
    // the branch stays: taking it away would close the pull request. And one that had a pull request is not ours to
    // take.
    if (!mayHaveBranch && !isUnknown(error)) {
      await proposal.branch.drop((failure) =>
        run.logger.warn('a branch without a pull request stays on the fork', { error: failure }),
      );
    }
    throw error;
  });
}

/** Whether a failed step may have taken effect on the host anyway. */
export function isUnknown(error: unknown): boolean {
  const cause = error instanceof Refusal ? error.cause : null;
  return cause instanceof HostError && cause.code === 'unreachable';
}

function open(
  { host, steps }: PushRun,
  { upstream, base, branch, continuation, options, tipCommit, footer }: Proposal,
): Promise<PullRequest> {
  return steps.run('pull-request', () =>
    host.repositories.openPullRequest(upstream.repository, {
      head: { fork: branch.fork, branch: workBranch(continuation.prHash) },
      base: branchName(base.ref),
      ...proposedText(options, tipCommit, footer),
    }),
  );
}

/** Another attempt at the same push may have been faster. */
async function findOpen(
  run: PushRun,
  { upstream, botLogin, continuation }: Proposal,
): Promise<PullRequest | null> {
  const find = findPullRequest(run, upstream.repository, botLogin, continuation.prHash);
  const found = await find.catch(() => null);
  return found?.isOpen ? found : null;
}

/** An open pull request keeps its text and base unless the push names others. The commits are there in any case. */
async function edit(
  { host, steps, reply }: PushRun,
  { upstream, base, options, footer }: Proposal,
  pullRequest: PullRequest,
): Promise<PullRequest> {
  const newBase = branchName(base.ref);
  const changes = {
    ...(options.title !== null && { title: options.title }),
    ...(options.description !== null && { body: withFooter(options.description, footer) }),
    ...(base.isNamed && newBase !== pullRequest.base && { base: newBase }),
  };
  if (Object.keys(changes).length === 0) return pullRequest;
  try {
    await steps.run('edit', () =>
      host.repositories.editPullRequest(upstream.repository, pullRequest.number, changes),
    );
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    await reply.progress('Title, description or base could not be changed:', ...error.lines);
  }
  return pullRequest;
}

function branchName({ name }: Ref): string {
  return name.slice('refs/heads/'.length);
}
