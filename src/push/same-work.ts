/**
 * Commits of a push that are in an open pull request of ours already: one more commit and `git push` again opens a second
 * pull request, which repeats the first.
 *
 * Recognised by the keyed hash that is recorded of each pull request when it is opened: it names its last commit, without
 * author and dates, and so all commits before it. Nothing else is stored.
 */
import type { AnonymousCommits } from '../git/objects/anonymize.ts';
import type { PlannedCommits } from '../git/objects/planned-commits.ts';
import type { RepositoryName } from '../repository-name.ts';
import { workHashOf } from './push-hashes.ts';
import type { PushRun } from './push-run.ts';
import type { SameWork } from './reply/reply.ts';
import type { Publishable } from './verdict/verdict.ts';

/** Commits of a push that are looked for, the newest ones. */
const MOST_SEARCHED = 100;

export interface Compared {
  /** Of all commits of the push. */
  readonly work: string;
  /** Null: none is open, or nobody knows. */
  readonly same: SameWork | null;
}

/** One question to the database. @param undated the commits without author and dates. */
export async function compareWork(
  run: PushRun,
  { repository, commits }: { readonly repository: RepositoryName } & Pick<Publishable, 'commits'>,
  undated: AnonymousCommits,
): Promise<Compared> {
  const first = Math.max(0, commits.length - MOST_SEARCHED);
  const places = Array.from({ length: commits.length - first }, (_, place) => first + place);
  const works = await Promise.all(places.map((place) => workHashOf(run, repository, undated.idOf(place))));
  const found = await run.host.openWith(repository, works);
  const work = works.at(-1) as string;
  if (found === null) return { work, same: null };
  const { prHash, url } = found;
  return { work, same: { prHash, url, shared: countUpTo(commits, first + works.indexOf(found.work)) } };
}

/** The sentence that comes first, and what to do instead. */
export function sameWorkLines(
  { settings }: Pick<PushRun, 'settings'>,
  { commits, isSignedOff }: Pick<Publishable, 'commits' | 'isSignedOff'>,
  { prHash, url, shared }: SameWork,
): [string, string] {
  const those = `${shared} of your ${commits.length} commits ${shared === 1 ? 'is' : 'are'}`;
  const what = shared === commits.length ? 'the same commits are' : those;
  const itsKey = settings.prUpdatePolicy === 'key' ? ' -o pr-key=<its key>' : '';
  const signOff = isSignedOff ? ' -o sign-off' : '';
  return [
    `NEW pull request: ${what} open as ${url}`,
    `Update that one with -o pr-hash=${prHash}${itsKey}${signOff}.`,
  ];
}

/** A commit and those before it. */
function countUpTo(commits: PlannedCommits, place: number): number {
  const counted = new Set<number>();
  const left = [place];
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    if (counted.has(at)) continue;
    counted.add(at);
    for (const parent of commits.at(at).parents) if (typeof parent === 'number') left.push(parent);
  }
  return counted.size;
}
