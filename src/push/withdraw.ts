/**
 * Withdraws a pull request: a push with `-o withdraw`, or one that deletes a branch and names it,
 * closes it and removes its branch. No limit on pull requests applies. The branch goes first, by
 * the service's own record: it is the bot's, so nobody can keep it, whatever has happened to the
 * repository. What failed half-way can be pushed again.
 * Proved by test/e2e/push/pr-withdraw.test.ts.
 */
import type { ClosedPullRequest, HostPullRequest, PullRequestPlace } from '../host/code-host.ts';
import { branchTip, isForkGone, knownFork } from '../host/ready-fork.ts';
import { isRefusedByHost, unlessMissing } from '../words/host-error.ts';
import { workBranch } from '../words/pr-hash.ts';
import { fullName, type RepositoryName } from '../words/repository-name.ts';
import { findPullRequest, publicRepository } from './judge/questions.ts';
import type { PushHost } from './push-host.ts';
import type { ClaimedUpdate, PushRun } from './push-run.ts';
import { faultsIn, isDoubtful } from './receive/push-options.ts';
import type { Announced } from './receive/receive.ts';
import type { Withdrawn } from './reply/banner.ts';
import { withdrawalCommand } from './reply/commands.ts';
import { Refusal } from './reply/refusal.ts';

/**
 * The command of a withdrawal whose options are wrong or missing; null: it fails for something
 * else, or none is meant.
 */
export function mendedWithdrawal(
  { settings, target }: PushRun,
  { isWithdrawal, parsed }: Announced,
  { all }: Refusal,
): string | null {
  const isMeant = isWithdrawal || isDoubtful(faultsIn(parsed), 'withdraw');
  if (!isMeant || !all.every(({ code }) => code === 'options' || code === 'pr-key')) return null;
  const isKeyWrong = all.some(({ code }) => code === 'pr-key');
  const { prHash, prKey } = parsed.options;
  const to = { remoteUrl: settings.remoteUrl(target), door: settings.door };
  return withdrawalCommand(prHash, isKeyWrong ? null : prKey, to);
}

/** Tells somebody who deletes a branch, and names no pull request, what they may have meant. */
export function deletionLines({ settings, target }: PushRun, { deletedRef }: Announced): readonly string[] {
  if (deletedRef === null) return [];
  const to = { remoteUrl: settings.remoteUrl(target), door: settings.door };
  return ['', 'To withdraw a pull request:', `  ${withdrawalCommand(null, null, to)}`];
}

interface Withdrawal
  extends Pick<HostPullRequest, 'number' | 'url' | 'fork'>, Pick<PullRequestPlace, 'repositoryId'> {
  readonly prHash: string;
  /** The number of the App that has opened it; null: the account has. */
  readonly by: number | null;
  readonly repository: RepositoryName;
}

/**
 * Withdraws it for a push that has given its key.
 * @param deletedRef the ref that the push deletes; null: none
 * @throws Refusal
 */
export async function withdraw(run: PushRun, prHash: string, deletedRef: string | null): Promise<Withdrawn> {
  const found = await find(run, prHash, await run.claims.claimPullRequest(prHash));
  if (found === null)
    throw new Refusal('pr-hash', 'there is no such pull request', [
      `No pull request of ${fullName(run.target)} has that pr-hash.`,
    ]);
  const hadBranch = found.fork !== null;
  return { ...(await withdrawFound(run, found)), prUrl: found.url, hadBranch, deletedRef };
}

/**
 * Removes what a delayed push left at the host that is not to be published: its pull request, or
 * its branch.
 * @throws Refusal
 */
export async function removeBegun(run: PushRun, prHash: string): Promise<void> {
  const { host, claims, steps, target } = run;
  const found = await find(run, prHash, await claims.claimPullRequest(prHash));
  if (found !== null) {
    const closing = await withdrawFound(run, found);
    if (closing.kind === 'open') throw new Refusal('withdrawal', 'it could not be closed', [closing.said]);
    return;
  }
  const { repositories } = host;
  if (repositories.flow !== 'fork') return;
  // It was made before anything was begun, and may have another name.
  const fork =
    knownFork(host, target) ??
    (await steps.run('fork', async () => repositories.fork(await repositories.repository(target))));
  await steps.run('withdrawal', () => removeBranch(host, { fork, prHash }));
}

/**
 * Finds it by the service's own record or, without one, at the host. Null: there is none.
 * @throws Refusal
 */
async function find(run: PushRun, prHash: string, { recorded }: ClaimedUpdate): Promise<Withdrawal | null> {
  if (recorded !== null) {
    const { owner, repo: name, app: by = null, ...known } = recorded;
    return { ...known, prHash, repository: { owner, name }, by };
  }
  const { host, limits, steps } = run;
  await limits.takeQuota();
  const [repository, botLogin] = await Promise.all([
    publicRepository(run),
    steps.run('lookup', () => host.botLogin()),
  ]);
  const pullRequest = await findPullRequest(run, repository, botLogin, prHash, null);
  return pullRequest && { ...pullRequest, prHash, repository, by: pullRequest.app?.number ?? null };
}

type Closing =
  ClosedPullRequest | { readonly kind: 'gone' } | { readonly kind: 'open'; readonly said: string };

/** Removes the branch and closes it. Does both, even if one fails. @throws Refusal */
async function withdrawFound(run: PushRun, withdrawal: Withdrawal): Promise<Closing> {
  const { host, limits, store, steps } = run;
  await limits.takeQuota();
  const [removal] = await Promise.allSettled([steps.run('withdrawal', () => removeBranch(host, withdrawal))]);
  const closing = await steps
    .run('withdrawal', () => close(host, withdrawal))
    .catch((error: unknown) => {
      const isRemoved = removal.status === 'fulfilled' && withdrawal.fork !== null;
      throw isRemoved ? having('Its branch is removed.', error) : error;
    });
  if (closing.kind === 'closed' || closing.kind === 'gone')
    await store.tellWithdrawn(withdrawal, (closing.kind === 'closed' ? closing.at : null) ?? '');
  if (removal.status === 'fulfilled') return closing;
  throw closing.kind === 'open' ? removal.reason : having('It is closed.', removal.reason);
}

async function removeBranch(
  host: PushHost,
  { fork, prHash }: Pick<Withdrawal, 'fork' | 'prHash'>,
): Promise<void> {
  const { repositories } = host;
  if (fork === null || repositories.flow !== 'fork') return;
  const branch = workBranch(prHash);
  await repositories.deleteBranch(fork, branch).catch(async (error: unknown) => {
    if (!isRefusedByHost(error)) throw error;
    // The fork may be gone, or the branch removed before. Git says so, too, because a host may be
    // wrong for a while, and what stays there is public.
    const source = { repository: fork, refName: `refs/heads/${branch}` };
    const tip = await branchTip(host, source).catch(async (cause: unknown) => {
      if (await isForkGone(host, fork, cause)) return null;
      throw cause;
    });
    if (tip !== null) throw error;
  });
}

/**
 * Closes the pull request, and says in which state it ends. If the host refuses, asks the host for
 * the state.
 */
async function close(host: PushHost, withdrawal: Withdrawal): Promise<Closing> {
  const { prHash, repository, number, by, repositoryId } = withdrawal;
  const { repositories } = host;
  try {
    return await repositories.closePullRequest(repository, number, by);
  } catch (error) {
    if (!isRefusedByHost(error)) throw error;
    const head = { owner: await host.botLogin(), branch: workBranch(prHash) };
    const place = {
      owner: repository.owner,
      repo: repository.name,
      number,
      ...(repositoryId !== undefined && { repositoryId }),
      ...(by !== null && { app: by }),
    };
    const shown = await unlessMissing(() => repositories.findPullRequest(repository, head, place));
    if (shown === null) return { kind: 'gone' };
    if (!shown.isOpen) return { kind: 'closed', at: null };
    if (shown.number !== number)
      return repositories.closePullRequest(repository, shown.number, shown.app?.number ?? null);
    return { kind: 'open', said: error.publicMessage };
  }
}

/** Adds to a failure what was done before it. */
function having(done: string, error: unknown): unknown {
  if (!(error instanceof Refusal)) return error;
  return new Refusal(error.code, error.reason, [done, ...error.lines], { cause: error.cause });
}
