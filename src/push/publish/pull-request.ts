/**
 * The pull request on the host, once its branch is there: opens it, finds it again after an attempt that died, or edits
 * it.
 */
import type { AnonymousCommits } from '../../git/objects/anonymize.ts';
import type { Head, PullRequest } from '../../host/code-host.ts';
import { HostError } from '../../host-error.ts';
import { oneLine } from '../../host-text.ts';
import { workBranch } from '../../pr-hash.ts';
import type { RepositoryName } from '../../repository-name.ts';
import { findPullRequest } from '../judge/questions.ts';
import type { PushRun } from '../push-run.ts';
import { Refusal } from '../reply/refusal.ts';
import { isUpdate, namedText, type Publishable, wholeText } from '../verdict/verdict.ts';
import type { WorkBranch } from './branch.ts';

/** Wait no longer for a warning, because the person gets the hash of the pull request after it. */
const PATIENCE_MS = 5_000;
const MAX_SUBMODULES_SHOWN = 10;
const SHOWN_ID_LENGTH = 12;
const NOT_CHECKED = ['This repository has submodules. The service could not check whether you changed one.'];

export interface Proposal {
  readonly prHash: string;
  readonly botLogin: string;
  readonly anonymous: AnonymousCommits;
  /** Whether an earlier attempt was not answered. It may have stopped at any point. */
  readonly isRepeated: boolean;
  /** The pull request that it opened. */
  readonly earlier: PullRequest | null;
}

/** @throws Refusal; see `leavesWork` for what a retry must continue. */
export async function propose(
  run: PushRun,
  push: Publishable,
  proposal: Proposal,
  branch: WorkBranch,
): Promise<PullRequest> {
  const { prHash, anonymous, botLogin, isRepeated, earlier } = proposal;
  if (isUpdate(push) && push.named !== null) return edit(run, push, anonymous, push.named.pullRequest);
  if (earlier?.isOpen) return earlier;
  const base = oneLine(push.base.name.slice('refs/heads/'.length));
  await run.reply.step(`Opening the pull request for "${base}" ...`);
  const head = { fork: branch.fork, branch: workBranch(prHash) };
  return open(run, push, anonymous, head).catch(async (error: unknown) => {
    // Another attempt at the same push may have been faster.
    const found = await findPullRequest(run, push.repository, botLogin, prHash, null).catch(() => null);
    if (found?.isOpen) return found;
    // A branch without a pull request is useless. But it stays if this or an earlier attempt may have opened one,
    // because deleting it would close that. It also stays if it had one before this push.
    if (!isRepeated && push.named === null && !leavesWork(error)) await branch.drop(head.branch);
    throw error;
  });
}

/**
 * Whether a retry must find what a failed step left: the step may have taken effect on the host anyway, or the host
 * asks for a pause, so nothing can be undone now.
 */
export function leavesWork(error: unknown): boolean {
  const cause = error instanceof Refusal ? error.cause : null;
  return cause instanceof HostError && cause.failure.lasts !== 'final';
}

/** Whether a pull request may be open after all. */
export function mayBeOpen(error: unknown): boolean {
  const cause = error instanceof Refusal && error.code === 'pull-request' ? error.cause : null;
  return cause instanceof HostError && cause.failure.effect === 'unknown';
}

async function open(
  { host, steps }: PushRun,
  push: Publishable,
  anonymous: AnonymousCommits,
  head: Head,
): Promise<PullRequest> {
  const { isDraft } = push;
  const request = { head, base: baseOf(push), isDraft, ...wholeText(push, anonymous) };
  try {
    return await steps.run('pull-request', () => host.repositories.openPullRequest(push.repository, request));
  } catch (error) {
    throw push.isDraft ? error : withAdvice(error);
  }
}

/** GitHub lets a repository limit the open pull requests of an account, without drafts. */
function withAdvice(error: unknown): unknown {
  if (!(error instanceof Refusal && error.cause instanceof HostError)) return error;
  const { code, publicMessage } = error.cause;
  const isLimit = /\bpull requests\b/i.test(publicMessage) && /\b(?:limit|maximum)\b/i.test(publicMessage);
  if (code !== 'refused' || !isLimit) return error;
  const advice = 'A draft does not count towards such a limit: with Git, add -o draft.';
  return new Refusal(error.code, error.reason, [...error.lines, advice], { cause: error.cause });
}

/** An open pull request keeps its text and base unless the push names others. The commits are there in any case. */
async function edit(
  { host, steps, reply }: PushRun,
  push: Publishable,
  anonymous: AnonymousCommits,
  pullRequest: PullRequest,
): Promise<PullRequest> {
  const { title, body } = namedText(push, anonymous);
  const base = baseOf(push);
  const changes = {
    ...(title !== null && { title }),
    ...(body !== null && { body }),
    ...(push.isBaseNamed && base !== pullRequest.base && { base }),
  };
  if (Object.keys(changes).length === 0) return pullRequest;
  try {
    await steps.run('edit', () =>
      host.repositories.editPullRequest(push.repository, pullRequest.number, changes),
    );
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    await reply.note('Title, description or base could not be changed:', ...error.lines);
  }
  return pullRequest;
}

function baseOf({ base }: Publishable): string {
  return base.name.slice('refs/heads/'.length);
}

/**
 * Lines for the person about submodules whose commits a push changes; none if there are none. Their ids leave
 * unchanged, and if those commits are not public, nobody can fetch them.
 *
 * A pack seldom shows such a change: the folder is usually sent as a delta with 20 new bytes and no name. So the host
 * is asked what the pull request changes. Never rejects.
 */
export async function submoduleWarning(
  { host, logger }: Pick<PushRun, 'host' | 'logger'>,
  repository: RepositoryName,
  number: number,
): Promise<readonly string[]> {
  try {
    const asked = host.repositories.changedSubmodules(repository, number);
    const changed = await Promise.race([asked, host.clock.sleep(PATIENCE_MS)]);
    if (changed === undefined) return NOT_CHECKED;
    return warningOf(changed.map(({ path, oid }) => `${oneLine(path)} at ${oid.slice(0, SHOWN_ID_LENGTH)}`));
  } catch (error) {
    logger.warn('the submodules of a pull request could not be compared', { error });
    return NOT_CHECKED;
  }
}

function warningOf(submodules: readonly string[]): readonly string[] {
  if (submodules.length === 0) return [];
  const more = submodules.length - MAX_SUBMODULES_SHOWN;
  return [
    'This pull request changes submodules. It names these commits:',
    ...submodules.slice(0, MAX_SUBMODULES_SHOWN).map((line) => `  ${line}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
    'Publish them in the submodules too, or nobody can get them. Ids of your own commits can be recognised.',
  ];
}
