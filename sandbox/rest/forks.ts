/**
 * Forks repositories, asynchronously, and syncs forks. The answer to a fork comes at once, with the
 * name that the fork really got. Its objects and refs arrive after the host's fork delay. Syncing
 * moves objects by `git fetch`, and only forward.
 */
import { copyIntoFork, readRef, readRefs, setHead } from '../bare-repository.ts';
import { runGit } from '../git-command.ts';
import type { Host } from '../host.ts';
import type { Repository } from '../records.ts';
import type { Answer, ApiCall } from './api-call.ts';
import { Refusal, json, notFound, requireViewer } from './api-call.ts';
import { fullRepository } from './render-repository.ts';
import type { Route } from './route.ts';
import { repositoryRoute } from './route.ts';
import { requireWorkflowScope } from './workflow-scope.ts';

export const forkRoutes: readonly Route[] = [
  repositoryRoute('POST', '/forks', 'repos/forks#create-a-fork', createFork),
  repositoryRoute(
    'POST',
    '/merge-upstream',
    'branches/branches#sync-a-fork-branch-with-the-upstream-repository',
    mergeUpstream,
  ),
];

function createFork(call: ApiCall, parent: Repository): Answer {
  const { host } = call;
  const viewer = requireViewer(call);
  if (readRefs(host.pathOf(parent)).size === 0) {
    throw new Refusal(
      403,
      'The repository exists, but it contains no Git content. Empty repositories cannot be forked.',
    );
  }
  const root = host.store.rootOf(parent);
  const known = host.store.records.repositories.find(
    (repository) => repository.owner === viewer.login && host.store.rootOf(repository) === root,
  );
  if (known) return json(202, fullRepository(host, known));
  const fork = host.createRepository(
    {
      owner: viewer.login,
      name: freeName(host, viewer.login, parent.name),
      defaultBranch: parent.defaultBranch,
      private: parent.private,
    },
    parent,
  );
  host.later(host.forkDelayMs, () => fillFork(host, parent, fork));
  return json(202, fullRepository(host, fork));
}

/** Brings the parent's objects and refs into a fork that is still an empty shell. */
export function fillFork(host: Host, parent: Repository, fork: Repository): void {
  copyIntoFork(host.pathOf(parent), host.pathOf(fork));
  setHead(host.pathOf(fork), parent.defaultBranch);
  fork.ready = true;
  host.store.changed();
}

/**
 * Finds a free name: an account cannot have two repositories of one name, so GitHub adds a number.
 */
function freeName(host: Host, owner: string, wanted: string): string {
  let name = wanted;
  for (let suffix = 1; host.store.findRepository(owner, name); suffix += 1) name = `${wanted}-${suffix}`;
  return name;
}

function mergeUpstream(call: ApiCall, fork: Repository): Promise<Answer> {
  const { host, payload } = call;
  const viewer = requireViewer(call);
  if (viewer.login !== fork.owner) throw notFound();
  const branch = payload['branch'];
  if (typeof branch !== 'string' || branch === '') {
    throw new Refusal(422, 'Invalid request.\n\n"branch" wasn\'t supplied.');
  }
  const parent = fork.parentId === null ? undefined : host.store.repositoryById(fork.parentId);
  if (!parent) throw new Refusal(422, 'Repository is not a fork');
  return host.inTurn(fork, () => syncBranch(host, parent, fork, branch));
}

async function syncBranch(host: Host, parent: Repository, fork: Repository, branch: string): Promise<Answer> {
  const ref = `refs/heads/${branch}`;
  const upstreamOid = readRef(host.pathOf(parent), ref);
  const forkOid = readRef(host.pathOf(fork), ref);
  if (upstreamOid === undefined || forkOid === undefined) throw new Refusal(404, 'Branch not found');
  const baseBranch = `${parent.owner}:${branch}`;
  const upToDate = () =>
    json(200, {
      message: `This branch is not behind the upstream ${baseBranch}.`,
      merge_type: 'none',
      base_branch: baseBranch,
    });
  if (forkOid === upstreamOid) return upToDate();
  await requireWorkflowScope(host, parent, forkOid, upstreamOid, 'merge-upstream');

  const fetch = ['fetch', '--quiet', '--no-tags', '--no-auto-maintenance', '--no-write-fetch-head'];
  const fetched = await runGit(host.pathOf(fork), [...fetch, host.pathOf(parent), `${ref}:${ref}`]);
  if (fetched.code !== 0) {
    const ahead = await runGit(host.pathOf(fork), ['merge-base', '--is-ancestor', upstreamOid, forkOid]);
    if (ahead.code === 0) return upToDate();
    throw new Refusal(409, 'There are merge conflicts');
  }
  fork.pushedAt = host.store.timestamp();
  host.store.changed();
  return json(200, {
    message: `Successfully fetched and fast-forwarded from upstream ${baseBranch}.`,
    merge_type: 'fast-forward',
    base_branch: baseBranch,
  });
}
