/** Where a change begins: the tip of the default branch, or that of an open anonymous pull request. */
import type { Context } from 'hono';
import type { AppEnv } from '../../../env.ts';
import { heldReads, readCommit, type ReadObjects } from '../../../upstream/tree-reader.ts';
import { pullRequestText } from '../../../git/objects/commit-message.ts';
import type { Oid } from '../../../git/objects/oid.ts';
import { HostError } from '../../../host-error.ts';
import { fullName, type RepositoryName } from '../../../repository-name.ts';
import { isMadeHere } from '../../../push/judge/questions.ts';
import { signOffLine } from '../../../push/judge/work.ts';
import type { PushHost } from '../../../push/push-host.ts';
import { workBranch } from '../../../pr-hash.ts';
import { defaultBranchOf } from '../../../upstream/upstream-refs.ts';
import { pushStore } from '../../git/push-store.ts';
import { explained, type Refused } from '../../request/refused.ts';
import { knownPolicy } from './change-form.ts';

const HEADS = 'refs/heads/';

export interface Source {
  readonly kind: 'source';
  readonly read: ReadObjects;
  /** Its commit, whose folder is to be changed. */
  readonly tip: Oid;
  readonly root: Oid;
  /** The parent of the commit to be made. */
  readonly parent: Oid;
  readonly base: string;
  /** Of the pull request's commit; null for a new one. */
  readonly text: { readonly title: string; readonly description: string } | null;
}

/** @param prHash empty: for a new pull request. @throws HostError */
export function openSource(
  c: Context<AppEnv>,
  host: PushHost,
  target: RepositoryName,
  prHash: string,
): Promise<Source | Refused> {
  return prHash === '' ? defaultSource(host, target) : pullRequestSource(c, host, target, prHash);
}

/** Two calls of the host. */
async function defaultSource(host: PushHost, target: RepositoryName): Promise<Source | Refused> {
  const branch = defaultBranchOf(await host.transport.listRefs(target, ['HEAD'], 'upstream'));
  if (branch === null) {
    const explanation = `${fullName(target)} has no commit yet that could be changed.`;
    return explained(404, 'This repository is empty', explanation);
  }
  const read = readerOf(host, target);
  const { tree } = await readCommit(read, branch.oid);
  const base = branch.name.slice(HEADS.length);
  return { kind: 'source', read, tip: branch.oid, root: tree, parent: branch.oid, base, text: null };
}

const NOT_OPEN = 'There is no open pull request with this hash in this repository. Begin a new change.';
const NO_BRANCH = 'The host no longer has the branch of this pull request.';
const OTHERS =
  'A form replaces the commit of the pull request, and would delete their work. Update this pull request with Git.';
const SEVERAL = explained(
  404,
  'This pull request has several commits',
  'A form makes one commit of one change, and would lose the others. Update this pull request with Git.',
);

/** Up to seven calls of the host, besides those for the policy, which is remembered. */
async function pullRequestSource(
  c: Context<AppEnv>,
  host: PushHost,
  target: RepositoryName,
  prHash: string,
): Promise<Source | Refused> {
  const { anonEmail } = c.var.config;
  const botLogin = await host.botLogin();
  const [recorded, policy] = await Promise.all([
    pushStore(c, host.memory).placeOf(prHash),
    knownPolicy({ c, target }),
  ]);
  const head = { owner: botLogin, branch: workBranch(prHash) };
  const pullRequest = await host.repositories.findPullRequest(target, head, recorded);
  // The bot may see more than the public.
  if (policy === null) throw new HostError('missing', 'The repository does not exist, or is not public.');
  if (pullRequest === null || !pullRequest.isOpen || pullRequest.source === null)
    return explained(404, 'This pull request is not open', NOT_OPEN);
  const { repository, refName } = pullRequest.source;
  // As the public reads it, too: a page shows nobody what only the bot may see.
  const tip = await tipOf(host, repository, refName);
  if (tip === undefined) return explained(404, 'The branch is gone', NO_BRANCH);
  const read = readerOf(host, repository);
  const commit = await readCommit(read, tip);
  if (!isMadeHere(commit.content, anonEmail))
    return explained(409, 'Somebody else has changed this pull request', OTHERS);
  const { base } = pullRequest;
  const [parent, ...others] = commit.parents;
  if (parent === undefined || others.length > 0) return SEVERAL;
  // The service has made its parent, too, and nobody has merged that.
  if (isMadeHere((await readCommit(read, parent)).content, anonEmail)) {
    const upstream = await tipOf(host, target, HEADS + base);
    const merged = upstream && (await host.lister.list(target, { tips: [upstream], without: [] }, 0));
    if (!merged || !merged.listed.has(parent)) return SEVERAL;
  }
  const { title, body } = pullRequestText({ ...commit, encoding: null });
  const signOff = signOffLine({ name: botLogin, email: anonEmail });
  // Drop the sign-off: a new change needs a new affirmation.
  const description = body.endsWith(signOff) ? body.slice(0, -signOff.length).trimEnd() : body;
  return { kind: 'source', read, tip, root: commit.tree, parent, base, text: { title, description } };
}

async function tipOf({ transport }: PushHost, repository: RepositoryName, refName: string) {
  const { refs } = await transport.listRefs(repository, [refName], 'upstream');
  return refs.find(({ name }) => name === refName)?.oid;
}

function readerOf({ transport, memory }: PushHost, repository: RepositoryName): ReadObjects {
  return heldReads((request, maxBytes) => transport.readObjects(repository, request, maxBytes), memory);
}
