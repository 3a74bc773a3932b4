/**
 * What other people have put on the branch of a pull request, which an update would delete.
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
import type { RepositoryName } from '../../repository-name.ts';
import { heldReads } from '../../upstream/tree-reader.ts';
import { branchTip, isForkGone } from '../publish/fork.ts';
import type { PushRun } from '../push-run.ts';
import { Refusal } from '../reply/refusal.ts';
import type { NamedPullRequest } from '../verdict/verdict.ts';

/** How many commits of the branch are looked at. */
const MOST = 10;
const MOST_BYTES = 256 * 1024;
const SHOWN_ID_LENGTH = 12;

/**
 * Where the branch of a pull request is, as `NamedPullRequest` has it. @throws Refusal if others' work would go with it.
 * @param isHarmless whether a commit may go from the branch: it is upstream's, in the push, or recorded.
 * @param overwrite the command that pushes all the same; null: whatever is there may go.
 */
export async function replaceableTip(
  run: PushRun,
  { pullRequest: { number, source, fork } }: Pick<NamedPullRequest, 'pullRequest'>,
  isHarmless: (oid: Oid) => boolean,
  overwrite: string | null,
): Promise<Oid | null> {
  if (source === null) return null;
  const tip = await run.steps.run(fork === null ? 'lookup' : 'fork', () => tipOf(run.host, source));
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

/** Commits of others on a branch, as lines, the newest first; null: the host does not show them. Costs one request. */
export async function othersCommits(
  { host: { transport, memory }, settings, logger }: PushRun,
  repository: RepositoryName,
  tip: Oid,
  isHarmless: (oid: Oid) => boolean,
): Promise<readonly string[] | null> {
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
    if (content === undefined) return [...lines, 'and more'];
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
