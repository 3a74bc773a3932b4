/** Upstream's branches on the bot's fork: brought to where upstream has them, and added where the fork lacks them. */
import type { Oid } from '../../git/objects/oid.ts';
import type { UpstreamBranch } from '../code-host.ts';
import { expectText } from '../rest/answer.ts';
import { HostError, isRefusedByHost } from '../../host-error.ts';
import type { RestCalls } from '../rest/octokit.ts';
import { unlessMissing } from '../rest/unless-missing.ts';
import type { RepositoryName } from '../../repository-name.ts';

/** Of an upstream commit, in the name of a branch. */
const OWN_NAME_LENGTH = 12;

/**
 * Brings a branch of the fork to where upstream has it. Where the host cannot merge, because upstream was rewritten, or
 * does something else instead, such as a merge commit of its own, the branch is set.
 */
export async function syncBranch(
  calls: RestCalls,
  fork: RepositoryName,
  { name: branch, tip: upstreamTip }: UpstreamBranch,
): Promise<void> {
  const { octokit } = calls;
  const { owner, name: repo } = fork;
  const way = await answerOf(
    calls,
    async () => (await octokit.rest.repos.mergeUpstream({ owner, repo, branch })).data.merge_type,
  );
  // Then the branch is where upstream's is, or was a moment ago. No other answer says where it is.
  if (way === 'fast-forward') return;
  const refusal = way instanceof HostError ? way : null;
  if (refusal === null && (await branchTip(calls, fork, branch)) === upstreamTip) return;
  const update = { owner, repo, ref: `heads/${branch}`, sha: upstreamTip, force: true };
  const secondRefusal = await refusalOf(calls, async () => {
    const { data } = await octokit.rest.git.updateRef(update);
    expectTip(data, upstreamTip);
  });
  if (secondRefusal === null) return;
  // A token that may not change workflows is told so by the first call, and by the second one that nothing is there.
  const isTelling = secondRefusal.code !== 'missing' && !isAboutWorkflows(refusal);
  throw isTelling ? secondRefusal : (refusal ?? secondRefusal);
}

function isAboutWorkflows(refusal: HostError | null): boolean {
  const [, refused = ''] = refusal?.publicMessage.split(/refusing to allow/i) ?? [];
  return / workflow/i.test(refused);
}

/**
 * Gives the fork a branch of upstream's that it lacks. Where forks share objects with upstream, the host takes
 * upstream's commit at once; elsewhere the branch begins at `ground`, which the fork has, and is synced. Another push
 * may be doing the same: a branch that exists by then is as good.
 */
export async function addBranch(
  calls: RestCalls,
  fork: RepositoryName,
  upstream: UpstreamBranch,
  ground: Oid,
): Promise<void> {
  const { name: branch, tip: upstreamTip } = upstream;
  if ((await createBranch(calls, fork, branch, upstreamTip)) === null) return;
  const tip = await branchTip(calls, fork, branch);
  if (tip === upstreamTip) return;
  if (tip === null) {
    const refusal = await createBranch(calls, fork, branch, ground);
    if (refusal !== null && (await branchTip(calls, fork, branch)) === null) {
      // An old branch is in the way: Git keeps no `release` beside `release/1.0`. The commits count, not the name.
      const own = `base-${upstreamTip.slice(0, OWN_NAME_LENGTH)}`;
      const isThere = (await createBranch(calls, fork, own, upstreamTip)) === null;
      if (isThere || (await branchTip(calls, fork, own)) === upstreamTip) return;
      throw refusal;
    }
  }
  await syncBranch(calls, fork, upstream);
}

/** Null if the fork has no such branch. */
async function branchTip(
  { octokit, retried }: RestCalls,
  { owner, name: repo }: RepositoryName,
  branch: string,
): Promise<Oid | null> {
  return unlessMissing(() =>
    retried(async () => {
      const { data } = await octokit.rest.git.getRef({ owner, repo, ref: `heads/${branch}` });
      return expectText(data.object.sha);
    }),
  );
}

/** Null if the branch exists now, at `tip`. */
function createBranch(
  calls: RestCalls,
  { owner, name: repo }: RepositoryName,
  branch: string,
  tip: Oid,
): Promise<HostError | null> {
  return refusalOf(calls, async () => {
    const ref = `refs/heads/${branch}`;
    const { data } = await calls.octokit.rest.git.createRef({ owner, repo, ref, sha: tip });
    expectTip(data, tip);
  });
}

/** What the host said if it understood and said no; null if it did what it was asked for. */
async function refusalOf(calls: RestCalls, call: () => Promise<unknown>): Promise<HostError | null> {
  const answer = await answerOf(calls, call);
  return answer instanceof HostError ? answer : null;
}

/** The host's answer, also if that is no. */
async function answerOf<T>({ retried }: RestCalls, call: () => Promise<T>): Promise<T | HostError> {
  try {
    return await retried(call);
  } catch (error) {
    if (isRefusedByHost(error)) return error;
    throw error;
  }
}

/** @throws TypeError */
function expectTip({ object }: { readonly object: { readonly sha: string } }, wanted: Oid): void {
  if (object.sha !== wanted) throw new TypeError('the branch is not where it was to be');
}
