/** For which branch of upstream a push is. */
import type { Ref } from '../../git/wire/ref-advertisement.ts';
import type { PushTarget } from '../../git/wire/ref-name.ts';
import { oneLine } from '../../host-text.ts';
import { fullName } from '../../repository-name.ts';
import type { UpstreamHistory } from '../../upstream/upstream-history.ts';
import { Refusal } from '../reply/refusal.ts';
import type { Questions, Upstream } from './questions.ts';
import type { Work } from './work.ts';

/** Branches in a list of those that there are. */
const MOST_NAMED = 10;

/** Upstream with a branch that pull requests can be for. */
export type BornUpstream = Upstream & { readonly defaultBranch: Ref };

/**
 * @param branch that the push names: it stands in for a default branch that does not exist.
 * @throws Refusal if there is nothing that a pull request could be for.
 */
export function bornUpstream(upstream: Upstream, branch: string | null): BornUpstream {
  const { repository, refs } = upstream;
  const defaultBranch = upstream.defaultBranch ?? (branch === null ? null : findListed(upstream, branch));
  if (defaultBranch !== null) return { ...upstream, defaultBranch };
  const branches = refs.filter(({ name }) => name.startsWith('refs/heads/'));
  if (branches.length === 0) {
    throw new Refusal('empty', 'the repository is empty', [
      `${fullName(repository)} has no commit yet, so there is nothing to open a pull request against.`,
    ]);
  }
  const names = branches
    .slice(0, MOST_NAMED)
    .map(({ name }) => `"${oneLine(name.slice('refs/heads/'.length))}"`);
  const more = branches.length > MOST_NAMED ? ` and ${branches.length - MOST_NAMED} more` : '';
  throw new Refusal('base', 'there is no default branch', [
    `The default branch of ${fullName(repository)} does not exist. It has ${names.join(', ')}${more}.`,
    'Name one of them with -o base=<branch>.',
  ]);
}

export interface Base {
  readonly ref: Ref;
  /** Whether the person named it. If not, an open pull request keeps its base. */
  readonly isNamed: boolean;
  /** Nothing says which branch, so this is the default branch. */
  readonly isGuess: boolean;
}

/**
 * The base branch, the first of these that exists: the option `base`; the branch after `refs/for/`; the present base of
 * an open pull request; the upstream branch with the pushed branch's name; the default branch, unless the work says
 * otherwise (`baseOfWork`).
 * @param current the base of the open pull request that is updated. @throws Refusal
 */
export async function chooseBase(
  questions: Questions,
  target: PushTarget,
  option: string | null,
  current: string | null,
  upstream: BornUpstream,
): Promise<Base> {
  const named = option ?? (target.kind === 'for' ? target.base : null);
  if (named === null) {
    const present = current === null ? null : await findBranch(questions, upstream, current);
    // The host is never asked for this name, because the person may have chosen it for themselves alone.
    const own = target.kind === 'branch' ? findListed(upstream, target.branch) : null;
    const known = present ?? own;
    return { ref: known ?? upstream.defaultBranch, isNamed: false, isGuess: known === null };
  }
  const ref = await findBranch(questions, upstream, named);
  if (ref !== null) return { ref, isNamed: true, isGuess: false };
  const meant = option === null ? branchBefore(upstream, named) : null;
  throw new Refusal('base', 'there is no such base branch', [
    `${fullName(upstream.repository)} has no branch "${oneLine(named)}". Name an existing branch with -o base=<branch>.`,
    ...(meant === null ? [] : [`A topic is not needed: push to refs/for/${oneLine(meant)}`]),
  ]);
}

/** The branch of upstream that a push may be for; null: none. */
export function branchOf(target: PushTarget, option: string | null): string | null {
  if (option !== null) return option;
  return target.kind === 'for' ? target.base : target.kind === 'branch' ? target.branch : null;
}

/** The branch that a topic was written behind: `main/topic`, `main%topic=x`, as AGit and Gerrit have it. */
function branchBefore(upstream: Upstream, named: string): string | null {
  const branches = new Set(upstream.refs.map(({ name }) => name));
  const ends = [...named.matchAll(/[/%]/g)].map(({ index }) => index).toReversed();
  const end = ends.find((at) => branches.has(`refs/heads/${named.slice(0, at)}`));
  return end === undefined ? null : named.slice(0, end);
}

/**
 * The base of work that nobody has named one for: where the work stands on a commit of one other branch alone, such as
 * a fix for a release, that branch. The person is told.
 */
export function baseOfWork(
  questions: Pick<Questions, 'note'>,
  { ground }: Work,
  history: Pick<UpstreamHistory, 'ownerOf'>,
): Ref | null {
  const [oid, another] = ground;
  const owner = oid === undefined || another !== undefined ? null : history.ownerOf(oid);
  if (owner === null) return null;
  const name = oneLine(owner.name.slice('refs/heads/'.length));
  questions.note(
    `Your work is based on "${name}", so the pull request is for that branch. For another one, add: -o base=<branch>`,
  );
  return owner;
}

function findListed({ refs }: Upstream, branch: string): Ref | null {
  return refs.find(({ name }) => name === `refs/heads/${branch}`) ?? null;
}

async function findBranch(questions: Questions, upstream: Upstream, branch: string): Promise<Ref | null> {
  const listed = findListed(upstream, branch);
  return listed !== null || upstream.hasAllBranches ? listed : questions.findBranch(branch);
}
