/**
 * Branches of the bot's fork that are upstream's. Forks share no objects here, so a branch can only be set to a commit
 * that the fork has already.
 *
 * The server itself brings a branch forward: Gitea by `merge-upstream` (since 1.23), Forgejo by `sync_fork` (since 11).
 * Where it cannot, because it is older, or upstream was rewritten, the branch is copied by Git.
 */
import type { Oid } from '../../git/objects/oid.ts';
import type { UpstreamBranch } from '../code-host.ts';
import { copyBranch } from '../git/branch-copy.ts';
import type { GitTransport } from '../git/git-transport.ts';
import { HostError } from '../../host-error.ts';
import { Recent } from '../../isolate/recent.ts';
import type { RepositoryName } from '../../repository-name.ts';
import { expectStatus } from '../rest/answer.ts';
import type { RestCalls } from '../rest/octokit.ts';
import { failureStatus, isRequestFailure } from '../rest/request-failure.ts';
import { call } from './calls.ts';

/** How a server brings a branch forward. */
const WAYS = [
  {
    route: 'POST /repos/{owner}/{repo}/merge-upstream',
    // Only forward: otherwise it would make a merge commit. Older servers do not know the word.
    parameters: (branch: string) => ({ data: { branch, ff_only: true } }),
  },
  { route: 'POST /repos/{owner}/{repo}/sync_fork/{branch}', parameters: (branch: string) => ({ branch }) },
] as const;
type Way = (typeof WAYS)[number];

/** By server: the ways that it turned out not to know. */
const unknownWays = new Recent<Set<Way>>({ most: 100 });

export interface ForkBranchTools {
  readonly calls: RestCalls;
  readonly transport: GitTransport;
}

/** @throws HostError */
export async function syncBranch(
  { calls, transport }: ForkBranchTools,
  fork: RepositoryName,
  branch: UpstreamBranch,
): Promise<void> {
  // The answer does not say where the branch is then.
  const isThere =
    (await bringForward(calls, fork, branch.name)) &&
    (await tipOf(transport, fork, branch.name)) === branch.tip;
  if (!isThere) await copyBranch(transport, fork, branch, calls);
}

/** @param ground a commit that the fork has. @throws HostError */
export async function addBranch(
  tools: ForkBranchTools,
  fork: RepositoryName,
  branch: UpstreamBranch,
  ground: Oid,
): Promise<void> {
  const { octokit, retried } = tools.calls;
  try {
    await retried(() =>
      call(octokit, 'POST /repos/{owner}/{repo}/branches', {
        owner: fork.owner,
        repo: fork.name,
        data: { new_branch_name: branch.name, old_ref_name: ground },
      }),
    );
  } catch (error) {
    // Another push may have added it. Whatever else is wrong, copying says it better.
    if (!(error instanceof HostError) || error.code === 'rate-limited') throw error;
  }
  await syncBranch(tools, fork, branch);
}

/** @throws HostError; `missing` if there is no such branch. */
export async function deleteBranch(
  { calls, transport }: ForkBranchTools,
  { owner, name: repo }: RepositoryName,
  branch: string,
): Promise<void> {
  try {
    await calls.retried(async () => {
      const place = { owner, repo, branch };
      expectStatus(await call(calls.octokit, 'DELETE /repos/{owner}/{repo}/branches/{branch}', place), 204);
    });
  } catch (error) {
    // Forgejo 10 answers with 500 where there is no such branch.
    if (!(error instanceof HostError) || error.code !== 'unreachable') throw error;
    if ((await tipOf(transport, { owner, name: repo }, branch)) !== null) throw error;
    throw new HostError('missing', 'The fork has no such branch.', error);
  }
}

/** False if the server did not do it, for whatever reason. */
async function bringForward(calls: RestCalls, fork: RepositoryName, branch: string): Promise<boolean> {
  const unknown = unknownWays.get(calls.apiUrl) ?? new Set();
  for (const way of WAYS) {
    if (unknown.has(way)) continue;
    try {
      await calls.retried(() =>
        call(calls.octokit, way.route, { owner: fork.owner, repo: fork.name, ...way.parameters(branch) }),
      );
      return true;
    } catch (error) {
      if (!(error instanceof HostError) || error.code === 'rate-limited') throw error;
      if (!isUnknownRoute(error)) return false;
      unknownWays.set(calls.apiUrl, unknown.add(way));
    }
  }
  return false;
}

/** The server has no such call: its answer is a line of text, and not an error object. */
function isUnknownRoute(error: HostError): boolean {
  const status = failureStatus(error);
  if (status === 405) return true;
  return status === 404 && isRequestFailure(error.cause) && typeof error.cause.response?.data === 'string';
}

/** Null if the fork has no such branch. */
async function tipOf(transport: GitTransport, fork: RepositoryName, branch: string): Promise<Oid | null> {
  const refName = `refs/heads/${branch}`;
  const { refs } = await transport.listRefs(fork, [refName], 'bot');
  return refs.find(({ name }) => name === refName)?.oid ?? null;
}
