/**
 * Finds commits of a push that are in a pull request of this service already. While that is open, a
 * further commit and a plain `git push` would open a second one, which repeats the first. Once it
 * is merged, the person's own version of its commits is not upstream's. To find them, keyed hashes
 * are recorded of each pull request: each names a commit, without author and dates.
 * Proved by test/push/same-work.test.ts and test/e2e/push/doubles.test.ts.
 */
import type { AnonymousCommits } from '../git/objects/anonymize.ts';
import type { Oid } from '../git/objects/oid.ts';
import { numbersUpTo } from '../git/objects/planned-commits.ts';
import type { RepositoryName } from '../words/repository-name.ts';
import type { PushRun } from './push-run.ts';
import { shellWord } from './reply/banner.ts';
import type { SameWork } from './reply/reply.ts';
import { Refusal } from './reply/refusal.ts';
import type { Publishable } from './verdict.ts';

/** The most commits of a push, its newest ones, that are recorded and looked for. */
const MOST_COMMITS = 100;
/** Hexadecimal digits of a hash. They are few, because many hashes are stored. */
const HASH_LENGTH = 16;

/**
 * Computes the hashes of the newest commits, to be recorded.
 * @param undated the commits without author and dates
 */
export function worksOf(
  { host, store }: PushRun,
  { repository }: { readonly repository: RepositoryName },
  undated: AnonymousCommits,
): Promise<readonly string[]> {
  const first = Math.max(0, undated.length - MOST_COMMITS);
  const ids = Array.from({ length: undated.length - first }, (_, place) => undated.idOf(first + place));
  const hashOf = async (id: Oid): Promise<string> =>
    (await store.hash('work', `${host.nameOf(repository)} ${id}`)).slice(0, HASH_LENGTH);
  return Promise.all(ids.map(hashOf));
}

/**
 * Finds the pull request that has commits of this push. Null: none, or only the one that it names
 * and that is not merged; or nobody knows, which is told.
 * @param works as `worksOf` answers them
 */
export async function findSameWork(
  run: PushRun,
  { repository, commits, prHash }: Pick<Publishable, 'commits' | 'prHash'> & { repository: RepositoryName },
  works: readonly string[],
): Promise<SameWork | null> {
  const found = await run.store.pullRequestWith(repository, works);
  if (found === undefined)
    await run.reply.note('The service could not check whether your commits are open already.');
  if (!found || (found.prHash === prHash && found.state !== 'merged')) return null;
  const { last, ...pullRequest } = found;
  const shared = numbersUpTo(commits, [commits.length - works.length + last]).size;
  return { ...pullRequest, shared };
}

/**
 * Tells the person of the pull request that has commits of this push. Nothing is told of a closed
 * one, because its commits may be proposed again.
 * @throws Refusal if it is open and the operator wants no doubles; not for a preview
 */
export async function tellSameWork(
  { reply, settings, target }: Pick<PushRun, 'reply' | 'settings' | 'target'>,
  push: Pick<Publishable, 'commits' | 'isSignedOff' | 'stripsTrails' | 'base' | 'prHash'>,
  same: SameWork,
  { isPreview = false } = {},
): Promise<void> {
  const { commits, isSignedOff, stripsTrails, base, prHash } = push;
  const { url, shared, state } = same;
  const those = `${shared} of your ${commits.length} commits ${shared === 1 ? 'is' : 'are'}`;
  const what = shared === commits.length ? 'the same commits are' : those;
  if (state === 'merged') {
    const pull = `git pull --rebase ${settings.remoteUrl(target)} ${shellWord(base.name)}`;
    return reply.note(
      capitalized(`${what} merged already: ${url}`),
      `To leave out what is merged, run: ${pull}`,
    );
  }
  if (state !== 'open') return;
  const itsKey = settings.prUpdatePolicy === 'key' ? ' -o pr-key=<its key>' : '';
  const signOff = isSignedOff ? ' -o sign-off' : '';
  const strip = stripsTrails ? ' -o strip-trails' : '';
  const update = `Update that one with -o pr-hash=${same.prHash}${itsKey}${signOff}${strip}.`;
  const open = `${what} open as ${url}`;
  if (settings.pushDoubles === 'tell') {
    // If the push names an unknown hash, it was told before that this opens a new one.
    const first = prHash === null ? `NEW pull request: ${open}` : capitalized(open);
    return reply.noteSame(same, [first, update]);
  }
  const lines = [capitalized(open), `This service opens no second pull request for them. ${update}`];
  await reply.noteSame(same, isPreview ? lines : []);
  if (!isPreview) throw new Refusal('double', 'the commits are open already', lines);
}

/**
 * Refuses a delayed push that would open a second pull request with the same commits, because
 * nobody is there to be warned when it is published.
 */
export function proposedBefore({ url }: SameWork): Refusal {
  return new Refusal('double', 'the same commits were proposed before', [
    `They are in ${url}, so nothing was published.`,
    'To propose them again, push them without a delay.',
  ]);
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
