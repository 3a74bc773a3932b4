/**
 * The branch of upstream that a pull request is for.
 * Proved by test/push/judge/judge.test.ts and test/e2e/push/told-before.test.ts.
 */
import { branchName, type Ref } from '../../git/wire/ref-advertisement.ts';
import type { UpstreamHistory } from '../../upstream/upstream-history.ts';
import { type Finding, say, warn } from '../../words/finding.ts';
import { oneLine } from '../../words/host-text.ts';
import { nearName } from '../../words/near-name.ts';
import { fullName, type RepositoryName } from '../../words/repository-name.ts';
import type { Pushed } from '../push-run.ts';
import { Refusal } from '../reply/refusal.ts';
import type { Place, Upstream } from './questions.ts';
import type { Work } from './work.ts';

/** Branches in a list of those that there are. */
const MOST_NAMED = 10;
/** Refs among which a misspelt branch is looked for. */
const MOST_COMPARED = 1_000;

/** Upstream with a branch that pull requests can be for. */
export type BornUpstream = Upstream & { readonly defaultBranch: Ref };

/**
 * @param branch stands in for a missing default branch.
 * @throws Refusal if there is neither
 */
export function bornUpstream(upstream: Upstream, branch: string | null): BornUpstream {
  const { repository, refs } = upstream;
  const defaultBranch = upstream.defaultBranch ?? (branch === null ? null : findListed(upstream, branch));
  if (defaultBranch !== null) return { ...upstream, defaultBranch };
  throw noDefaultBranch(repository, refs);
}

/** Refuses a repository without a default branch: it is empty, or its default branch is gone. */
function noDefaultBranch(repository: RepositoryName, refs: readonly Ref[]): Refusal {
  const branches = listedBranches(refs);
  if (branches === null)
    return new Refusal('empty', 'the repository is empty', [
      `${fullName(repository)} has no commit yet, so there is nothing to open a pull request against.`,
    ]);
  return new Refusal('base', 'there is no default branch', [
    `The default branch of ${fullName(repository)} does not exist. It has ${branches}.`,
    'Name one of them with -o base=<branch>.',
  ]);
}

/** Lists the branches of upstream, such as `"main", "next" and 7 more`; null: there is none. */
function listedBranches(refs: readonly Ref[]): string | null {
  const branches = refs.filter(({ name }) => name.startsWith('refs/heads/'));
  const names = branches.slice(0, MOST_NAMED).map((ref) => `"${shortName(ref)}"`);
  const more = branches.length > MOST_NAMED ? ` and ${branches.length - MOST_NAMED} more` : '';
  return branches.length === 0 ? null : `${names.join(', ')}${more}`;
}

/** The branch that the person names: with the option `base`, or behind `refs/for/`. */
export function namedBase({ options, taken: { target } }: Pushed): string | null {
  return options.base ?? (target.kind === 'for' ? target.base : null);
}

export interface ChosenBase {
  readonly base: Ref;
  /** If not, an open pull request keeps its base. */
  readonly isBaseNamed: boolean;
  /** There is none: the default branch stands in, and what is said of it would not be true. */
  readonly isBaseRefused: boolean;
  /** Nothing says which branch, and all are listed: this is the default branch. */
  readonly isGuess: boolean;
}

/**
 * The first of these that exists: the one that the person names; the present base of an open pull
 * request (`current`); the branch with the pushed one's name; the default branch, unless the work
 * says otherwise.
 * @throws Refusal
 */
export async function chooseBase(
  place: Place | null,
  pushed: Pushed,
  current: string | null,
  upstream: BornUpstream,
): Promise<ChosenBase> {
  const { repository, refs, hasAllBranches, defaultBranch } = upstream;
  const { target } = pushed.taken;
  const find = (branch: string | null) => findBase(place, upstream, branch);
  const named = namedBase(pushed);
  if (named !== null) {
    const base = await find(named);
    if (base !== null) return { base, isBaseNamed: true, isBaseRefused: false, isGuess: false };
    const before = pushed.options.base === null ? branchBefore(refs, named) : null;
    throw missingBranch(repository, refs, named, before ?? nearBranch(refs, named));
  }
  const present = await find(current);
  // The host is never asked for this name, because the person may have chosen it for themselves
  // alone.
  const known = present ?? (target.kind === 'branch' ? findListed(upstream, target.branch) : null);
  const base = known ?? defaultBranch;
  return { base, isBaseNamed: false, isBaseRefused: false, isGuess: known === null && hasAllBranches };
}

/**
 * Refuses a base that upstream does not have, and names the branches that it has.
 * @param named by the person; null: the default branch is not there.
 */
export function missingBase(repository: RepositoryName, refs: readonly Ref[], named: string | null): Refusal {
  if (named === null) return noDefaultBranch(repository, refs);
  return missingBranch(repository, refs, named, nearBranch(refs, named));
}

/** @param meant the one that somebody may have misspelt; null: none is near. */
function missingBranch(
  repository: RepositoryName,
  refs: readonly Ref[],
  named: string,
  meant: string | null,
): Refusal {
  const question = meant === null ? '' : ` Did you mean "${oneLine(meant)}"?`;
  const line = `${fullName(repository)} has no branch "${oneLine(named)}". It has ${listedBranches(refs) ?? 'none'}.${question}`;
  return new Refusal('base', 'there is no such base branch', [line], {
    needs: [`base=${meant ?? '<branch>'}`],
  });
}

/** Warns that commits of branches which were not listed would count as the person's own. */
export function unlistedBranches(
  { repository, hasAllBranches }: BornUpstream,
  { base, isBaseNamed }: Pick<ChosenBase, 'base' | 'isBaseNamed'>,
): Finding[] {
  if (hasAllBranches || isBaseNamed) return [];
  return warn(
    'unlisted-branches',
    `${fullName(repository)} has more branches than this service reads. If your work is not based on "${shortName(base)}", add: -o base=<branch>`,
  );
}

/**
 * Answers null if there is no such branch.
 * @param place null: the host must not be asked for a branch by its name yet.
 * @throws Refusal
 */
export async function findBase(
  place: Place | null,
  upstream: Upstream,
  branch: string | null,
): Promise<Ref | null> {
  if (branch === null) return null;
  const listed = findListed(upstream, branch);
  if (listed !== null || upstream.hasAllBranches) return listed;
  if (place !== null) return place.ask.findBranch(branch);
  throw new Refusal('base', 'the base branch is not listed', [
    'This repository has more branches than the service lists, and it asks for none by its name before the push is published. Push without a delay.',
  ]);
}

/** The branch whose name is nearly the same; null: there is none among the first ones. */
function nearBranch(refs: readonly Ref[], named: string): string | null {
  const listed = refs
    .slice(0, MOST_COMPARED)
    .flatMap(({ name }) => /^refs\/heads\/(.+)/.exec(name)?.[1] ?? []);
  return nearName(named, listed) ?? null;
}

/**
 * The branch that a topic was written behind: `main/topic`, `main%topic=x`, as AGit and Gerrit have
 * it.
 */
function branchBefore(refs: readonly Ref[], named: string): string | null {
  const branches = new Set(refs.map(({ name }) => name));
  const ends = [...named.matchAll(/[/%]/g)].map(({ index }) => index).toReversed();
  const end = ends.find((at) => branches.has(`refs/heads/${named.slice(0, at)}`));
  return end === undefined ? null : named.slice(0, end);
}

/**
 * Finds the one branch, such as a release's, that work for no named base stands on alone; null:
 * there is none.
 */
export function baseOfWork(
  { isGuess }: Pick<ChosenBase, 'isGuess'>,
  { boundary }: Work,
  history: UpstreamHistory,
): Ref | null {
  const [oid, another] = boundary;
  return isGuess && oid !== undefined && another === undefined ? history.ownerOf(oid) : null;
}

/** Says for which branch the pull request is. */
export function otherBase(owner: Ref | null): Finding[] {
  if (owner === null) return [];
  return say(
    'other-base',
    `Your work is based on "${shortName(owner)}", so the pull request is for that branch. For another one, add: -o base=<branch>`,
  );
}

/** The name of a branch for a terminal. */
export function shortName(branch: Ref): string {
  return oneLine(branchName(branch));
}

function findListed({ refs }: Upstream, branch: string): Ref | null {
  return refs.find(({ name }) => name === `refs/heads/${branch}`) ?? null;
}
