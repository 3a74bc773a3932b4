/**
 * Work of other people: what they have put on the branch of a pull request, which an update would delete, and commits of
 * their pull requests that are among those of a push.
 *
 * The branch is usually where the service has left it, which is recorded. But the answer to an update may have been lost
 * after its commits had arrived: so commits that the service has made are its own, also if they are not recorded.
 */
import { latin1 } from '../../git/bytes.ts';
import { parseCommit } from '../../git/objects/commit.ts';
import { pullRequestText } from '../../git/objects/commit-message.ts';
import { type Oid, ZERO_OID } from '../../git/objects/oid.ts';
import type { Source } from '../../host/code-host.ts';
import { oneLine } from '../../host-text.ts';
import { fullName, type RepositoryName } from '../../repository-name.ts';
import { heldReads } from '../../upstream/tree-reader.ts';
import { branchTip, isForkGone } from '../publish/fork.ts';
import type { PushRun } from '../push-run.ts';
import type { ReceivedPack } from '../receive/receive.ts';
import { Refusal } from '../reply/refusal.ts';
import type { NamedPullRequest } from '../verdict/verdict.ts';
import { commitsFrom, type Work } from './work.ts';

/** How many commits of the branch are looked at. */
const MOST = 10;
const MOST_BYTES = 256 * 1024;
const SHOWN_ID_LENGTH = 12;
/** Of GitHub, Gitea and Forgejo. */
const PULL_REF = /^refs\/pull\/(\d{1,10})\/head$/;
const MOST_BORROWED = 3;
/** The author's line stands behind the parents'. */
const MAX_HEAD_BYTES = 4_096;

/**
 * Where the branch of a pull request is, as `NamedPullRequest` has it, when nobody else's work would go with it.
 * @param isHarmless whether a commit may go from the branch: it is upstream's, in the push, or recorded.
 * @param overwrite the command that pushes all the same; null: whatever is there may go.
 * @throws Refusal
 */
export async function replaceableTip(
  run: PushRun,
  { pullRequest }: Omit<NamedPullRequest, 'tip'>,
  isHarmless: (oid: Oid) => boolean,
  overwrite: string | null,
): Promise<Oid | null> {
  const { number, source, fork } = pullRequest;
  if (source === null) return null;
  const step = fork === null ? 'lookup' : 'fork';
  const tip = await run.steps.run(step, () => tipOf(run.host, source));
  if (tip === null || tip === ZERO_OID || overwrite === null || isHarmless(tip)) return tip;
  const others = await othersCommits(run, source.repository, tip, isHarmless);
  if (others?.length === 0) return tip;
  const whose = 'Somebody else has pushed to the branch of this pull request since its last update';
  throw othersWork([
    ...(others === null
      ? [`${whose}. The code host does not show their commits.`]
      : [`${whose}:`, ...others.map((line) => `  ${line}`)]),
    'Get their commits, and push again:',
    `  git pull --rebase ${run.settings.remoteUrl(run.target)} refs/pull/${number}/head`,
    'Or replace them with yours:',
    `  ${overwrite}`,
  ]);
}

/** Where the commits of a pull request end; the zero id: nowhere; null: its fork is gone. @throws HostError */
export async function tipOf(host: PushRun['host'], source: Source): Promise<Oid | null> {
  try {
    return (await branchTip(host, source)) ?? ZERO_OID;
  } catch (error) {
    if (await isForkGone(host, source.repository, error)) return null;
    throw error;
  }
}

export function othersWork(lines: readonly string[]): Refusal {
  return new Refusal('others-work', 'somebody else has changed this pull request', lines);
}

/**
 * The commits that others have put on a branch, as lines, the newest first; none if there are none. Null: the host does not
 * show them. Costs one request. @param isHarmless as `replaceableTip` has it.
 */
export async function othersCommits(
  { host, settings, logger }: PushRun,
  repository: RepositoryName,
  tip: Oid,
  isHarmless: (oid: Oid) => boolean,
): Promise<readonly string[] | null> {
  const { transport, memory } = host;
  const read = heldReads((request, maxBytes) => transport.readObjects(repository, request, maxBytes), memory);
  const commits = await read({ wants: [tip], depth: MOST }, MOST_BYTES).catch((error: unknown) => {
    logger.warn('the commits of a branch could not be read', { error });
    return null;
  });
  if (commits?.has(tip) !== true) return null;
  const lines: string[] = [];
  const seen = new Set<Oid>();
  const left = [tip];
  for (let oid = left.pop(); oid !== undefined; oid = left.pop()) {
    if (seen.has(oid) || isHarmless(oid)) continue;
    seen.add(oid);
    const content = commits.get(oid)?.content;
    if (content === undefined) {
      lines.push('and more');
      break;
    }
    if (isMadeHere(content, settings.anonEmail)) continue;
    const commit = parseCommit(content);
    lines.push(`${oid.slice(0, SHOWN_ID_LENGTH)} ${oneLine(pullRequestText(commit).title)}`);
    left.push(...commit.parents);
  }
  return lines;
}

/** Its author and its committer are nobody, as those of every commit that the service makes. */
export function isMadeHere(content: Uint8Array, anonEmail: string): boolean {
  const [head = ''] = latin1(content).split('\n\n', 1);
  const signed = head.split('\n').filter((line: string) => /^(?:author|committer) /.test(line));
  return signed.length === 2 && signed.every((line: string) => line.includes(` <${anonEmail}> `));
}

/**
 * Lines about commits of other people's pull requests that a push contains, because somebody worked on top of them: they
 * would go out once more, under the bot's name. None for the work of one author, for which nobody is asked.
 * @param advertised which of these ids refs of upstream's have, with the name of one; null: nobody knows.
 * @param own the number of the pull request that is updated; null: none.
 */
export async function borrowedLines(
  advertised: (oids: ReadonlySet<Oid>) => Promise<ReadonlyMap<Oid, string> | null>,
  { commits }: Work,
  kept: ReceivedPack['kept'],
  repository: RepositoryName,
  own: number | null,
): Promise<string[]> {
  const authors = new Set<string>();
  const oids = new Set<Oid>();
  for (const { oid } of commits) {
    authors.add(authorOf(kept.withOid(oid)?.content ?? new Uint8Array()));
    oids.add(oid);
  }
  if (authors.size < 2) return [];
  const refs = await advertised(oids);
  if (refs === null)
    return ['The service could not check whether commits of other pull requests are among yours.'];
  const numbers = [...refs].flatMap(([oid, name]) => {
    const [, number] = PULL_REF.exec(name) ?? [];
    return number === undefined || Number(number) === own ? [] : [{ oid, number }];
  });
  return numbers.slice(0, MOST_BORROWED).map(({ oid, number }) => {
    // A client may send commits that upstream has, too.
    const theirs = [...commitsFrom(kept, oid)].filter((each) => oids.has(each)).length;
    const of = `${theirs} of the ${oids.size} commits ${theirs === 1 ? 'is' : 'are'} of ${fullName(repository)}#${number}`;
    return `${of}, and would be published again in the name of the bot.`;
  });
}

/** Name and address in the commit's own bytes; '' if it names none. */
function authorOf(content: Uint8Array): string {
  const head = latin1(content, 0, Math.min(content.byteLength, MAX_HEAD_BYTES));
  return /^author [^\n>]*/m.exec(head)?.[0] ?? '';
}
