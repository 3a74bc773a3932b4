/**
 * Withdraws a pull request: a push with `-o withdraw`, or one that deletes a branch and names the pull request, closes it
 * and removes its branch from the fork. None of the limits on pull requests applies; those who make up hashes may look up only so many.
 *
 * Each step can be repeated, so a withdrawal that failed half-way can be pushed again.
 */
import { closedEvent } from '../events/host-event.ts';
import type { ClosedPullRequest, PullRequest } from '../host/code-host.ts';
import { HostError } from '../host-error.ts';
import { workBranch } from '../pr-hash.ts';
import { fullName, type RepositoryName } from '../repository-name.ts';
import { findPullRequest, publicRepository } from './judge/questions.ts';
import { branchTip } from './publish/fork.ts';
import { inProgress, type PushRun } from './push-run.ts';
import type { Withdrawn } from './reply/banner.ts';
import { Refusal } from './reply/refusal.ts';

/** For the page of a held push. */
const GIVEN_UP = ['You have given it up.'];

/**
 * @param prHash its push has given the key.
 * @param deletedRef the ref that the push deletes; null: it deletes none.
 * @throws Refusal
 */
export async function withdraw(run: PushRun, prHash: string, deletedRef: string | null): Promise<Withdrawn> {
  const { host, claims, steps } = run;
  const [listed, held] = await Promise.all([
    claims.claimListed(prHash),
    host.heldPushes().cancel(prHash, GIVEN_UP),
  ]);
  if (held === 'busy') throw inProgress('this push is being published', 'Withdraw it again in a minute.');
  if (listed === null && held === 'cancelled') return givenUp(true);
  // What was held is known by its hash, and may be open if the host did not answer.
  const wasBegun = held === 'begun';
  if (listed === null && !wasBegun) await host.admission.lookUp();
  const found = await find(run, prHash).catch((error: unknown) => {
    if (wasBegun && error instanceof Refusal) return null;
    throw error;
  });
  if (found === null) return givenUp(false);
  const { repository, pullRequest } = found;
  if (pullRequest === null && wasBegun) return givenUp(true);
  if (pullRequest === null) throw unknown(repository);
  if (listed === null) await claims.claimPullRequest(prHash);
  const closed = await steps.run('withdrawal', () =>
    host.repositories.closePullRequest(repository, pullRequest.number),
  );
  await Promise.all([
    steps.run('withdrawal', () => removeBranch(run, pullRequest, workBranch(prHash))),
    tell(run, prHash, pullRequest, closed),
  ]);
  return { prUrl: pullRequest.url, isSure: true, isMerged: closed.kind === 'merged', deletedRef };

  function givenUp(isSure: boolean): Withdrawn {
    return { prUrl: null, isSure, isMerged: false, deletedRef };
  }
}

/** @throws Refusal */
async function find(run: PushRun, prHash: string) {
  const { host, steps } = run;
  await host.admission.takeShare();
  const [repository, botLogin] = await Promise.all([
    publicRepository(run),
    steps.run('lookup', () => host.botLogin()),
  ]);
  return { repository, pullRequest: await findPullRequest(run, repository, botLogin, prHash, null) };
}

async function removeBranch({ host }: PushRun, { fork }: PullRequest, branch: string): Promise<void> {
  if (fork === null) return;
  await host.repositories.deleteBranch(fork, branch).catch(async (error: unknown) => {
    if (!(error instanceof HostError) || error.code === 'unreachable') throw error;
    // An earlier attempt may have removed it.
    if ((await branchTip(host, fork, branch)) !== null) throw error;
  });
}

/** The same event and key as the notifications feed would give if someone else had closed it, so it is published once. */
async function tell(
  { host, logger }: PushRun,
  prHash: string,
  { number, url }: PullRequest,
  closed: ClosedPullRequest,
): Promise<void> {
  if (closed.kind === 'merged' || closed.at === null) return;
  await host
    .pullRequest(prHash)
    .tell(host.hostKey, [closedEvent(number, closed.at, url, 'withdrawn')], host.clock.now())
    .catch((error: unknown) => logger.error('a withdrawal could not be told', { error }));
}

function unknown(repository: RepositoryName): Refusal {
  return new Refusal('pr-hash', 'there is no such pull request', [
    `No pull request of ${fullName(repository)} has that pr-hash.`,
  ]);
}
