/**
 * Reads the commit that a form is to change. This asks the host, so it counts like a clone.
 * Proved by test/e2e/people/change-form.test.ts and test/e2e/people/refused-clients.test.ts.
 */
import type { Context } from 'hono';
import type { AppEnv } from '../../../env.ts';
import { pullRequestText } from '../../../git/objects/commit-message.ts';
import type { Oid } from '../../../git/objects/oid.ts';
import { ProtocolError } from '../../../git/wire/protocol-error.ts';
import { branchName } from '../../../git/wire/ref-advertisement.ts';
import { HostError } from '../../../words/host-error.ts';
import { workBranch } from '../../../words/pr-hash.ts';
import { signOffLine } from '../../../git/objects/sign-offs.ts';
import type { PushHost } from '../../../push/push-host.ts';
import { fullName, type RepositoryName } from '../../../words/repository-name.ts';
import { heldReads, isMadeHere, readCommit, type ReadObjects } from '../../../upstream/tree-reader.ts';
import { defaultBranchOf } from '../../../upstream/upstream-refs.ts';
import { ServicePushStore } from '../../../service/push-store.ts';
import { countReading, knownPolicy } from '../../request/reading.ts';
import { explained, type Refused, refuseWithoutBot } from '../../request/refused.ts';
import { hostScopeOf } from '../../request/scope.ts';

/** Gives null if the request may read. */
export async function refuseReading(c: Context<AppEnv>): Promise<Refused | null> {
  return refuseWithoutBot(c) ?? (await countReading(c));
}

const FAULTY_HOST = 'The code host does not answer as expected';

/**
 * Says why the host did not show what was asked for.
 * @throws any error that does not come from the host.
 */
export function hostFailure(c: Context<AppEnv>, error: unknown): Refused {
  if (error instanceof HostError) {
    const { code, publicMessage } = error;
    if (code === 'missing') return explained(404, 'No such repository', publicMessage);
    const isBusy = code === 'busy' || code === 'rate-limited';
    return isBusy ? explained(503, 'Not now', publicMessage) : explained(502, FAULTY_HOST, publicMessage);
  }
  if (!(error instanceof ProtocolError)) throw error;
  c.var.logger.warn('the code host sent something malformed', { error });
  return explained(502, FAULTY_HOST, `${error.publicMessage} Try again later.`);
}

export interface ChangeSource {
  readonly kind: 'source';
  readonly read: ReadObjects;
  /** The commit to change: of the default branch, or of the pull request. */
  readonly tip: Oid;
  readonly root: Oid;
  /** The parent of the commit to be made. */
  readonly parent: Oid;
  readonly base: string;
  /** The message of the pull request's commit; null for a new pull request. */
  readonly text: { readonly title: string; readonly description: string } | null;
}

const BEGIN_ANEW = 'There is no open pull request with this hash in this repository. Begin a new change.';
const NOT_OPEN = explained(404, 'This pull request is not open', BEGIN_ANEW);
const GONE = 'The host no longer has the branch of this pull request.';
const NO_BRANCH = explained(404, 'The branch is gone', GONE);
const USE_GIT = 'Update this pull request with Git.';
const LOSES_WORK = `A form replaces the commit of the pull request, and would delete their work. ${USE_GIT}`;
const OTHERS = explained(409, 'Somebody else has changed this pull request', LOSES_WORK);
const LOSES_OTHERS = `A form makes one commit of one change, and would lose the others. ${USE_GIT}`;
const SEVERAL = explained(404, 'This pull request has several commits', LOSES_OTHERS);

/**
 * Opens the commit to change, with two requests; for a pull request with more, and with those of
 * the policy.
 * @param prHash empty for a new pull request.
 * @throws HostError
 */
export async function openSource(
  c: Context<AppEnv>,
  host: PushHost,
  target: RepositoryName,
  prHash: string,
): Promise<ChangeSource | Refused> {
  if (prHash !== '') return pullRequestSource(c, host, target, prHash);
  const branch = defaultBranchOf(await host.transport.listRefs(target, ['HEAD'], 'upstream'));
  if (branch === null) {
    const explanation = `${fullName(target)} has no commit yet that could be changed.`;
    return explained(404, 'This repository is empty', explanation);
  }
  const read = heldReads(host, target);
  const { tree } = await readCommit(read, branch.oid);
  const base = branchName(branch);
  return { kind: 'source', read, tip: branch.oid, root: tree, parent: branch.oid, base, text: null };
}

async function pullRequestSource(
  c: Context<AppEnv>,
  host: PushHost,
  target: RepositoryName,
  prHash: string,
): Promise<ChangeSource | Refused> {
  const { anonEmail } = c.var.config;
  const botLogin = await host.botLogin();
  const [recorded, policy] = await Promise.all([
    new ServicePushStore(hostScopeOf(c), host.memory).placeOf(prHash),
    knownPolicy(c, target),
  ]);
  const head = { owner: botLogin, branch: workBranch(prHash) };
  const pullRequest = await host.repositories.findPullRequest(target, head, recorded);
  // The bot may see more than the public.
  if (policy === null) throw new HostError('missing', 'The repository does not exist, or is not public.');
  if (pullRequest === null || !pullRequest.isOpen || pullRequest.source === null) return NOT_OPEN;
  const { repository, refName } = pullRequest.source;
  // The branch is read as the public reads it: a page must not show what only the bot may see.
  const tip = await tipOf(host, repository, refName);
  if (tip === undefined) return NO_BRANCH;
  const read = heldReads(host, repository);
  const commit = await readCommit(read, tip);
  if (!isMadeHere(commit.content, anonEmail)) return OTHERS;
  const { base } = pullRequest;
  const [parent, ...others] = commit.parents;
  if (parent === undefined || others.length > 0) return SEVERAL;
  // If the service has made the parent, too, this is one of several, unless the parent was merged.
  if (isMadeHere((await readCommit(read, parent)).content, anonEmail)) {
    const upstream = await tipOf(host, target, `refs/heads/${base}`);
    const merged = upstream && (await host.lister.list(target, { tips: [upstream], without: [] }, 0));
    if (!merged || !merged.listed.has(parent)) return SEVERAL;
  }
  const { title, body } = pullRequestText({ ...commit, encoding: null });
  const signOff = signOffLine({ name: botLogin, email: anonEmail });
  // The sign-off is dropped, because a new change needs a new one.
  const description = body.endsWith(signOff) ? body.slice(0, -signOff.length).trimEnd() : body;
  return { kind: 'source', read, tip, root: commit.tree, parent, base, text: { title, description } };
}

async function tipOf({ transport }: PushHost, repository: RepositoryName, refName: string) {
  const { refs } = await transport.listRefs(repository, [refName], 'upstream');
  return refs.find(({ name }) => name === refName)?.oid;
}
