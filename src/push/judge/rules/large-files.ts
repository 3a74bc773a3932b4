/**
 * Refuses files over the limit, and names them: the pack is read to its end for that.
 * Proved by test/e2e/push/large-files.test.ts.
 */
import type { LargeFile } from '../../../edit/large-files.ts';
import { pullRequestText } from '../../../git/objects/commit-message.ts';
import type { NewCommits } from '../../../git/objects/found-commits.ts';
import { MAX_OBJECT_BYTES } from '../../../git/pack/memory-limits.ts';
import { megabytes, objectTooLarge, OVER_LIMIT } from '../../../git/pack/object-too-large.ts';
import type { Finding } from '../../../words/finding.ts';
import { oneLine } from '../../../words/host-text.ts';
import { shellWord } from '../../reply/commands.ts';
import { Refusal, toRefusal } from '../../reply/refusal.ts';
import type { Known } from '../known.ts';

/** Digits of an original id, which only the person sees. */
const ID_LENGTH = 12;

export async function largeFiles({
  place,
  pushed,
  work: { commits, boundary },
  received: { pack },
  circumstances: { settings },
}: Pick<Known, 'place' | 'pushed' | 'work' | 'received' | 'circumstances'>): Promise<Finding[]> {
  if (pack.largestBytes <= MAX_OBJECT_BYTES) return [];
  const roots = Array.from(commits, ({ commit }) => commit.tree);
  const files = (await place?.ask.largeFiles(pushed, roots, pack.spool)) ?? [];
  const unnamed = toRefusal(objectTooLarge('blob', pack.largestBytes), settings.client);
  if (files.length === 0) return [unnamed];
  const [boundaryOid] = boundary;
  return [new Refusal(unnamed.code, unnamed.reason, linesOf(files, commits, boundaryOid ?? null))];
}

/** @param boundaryOid an upstream commit on which the commits stand. */
function linesOf(files: readonly LargeFile[], commits: NewCommits, boundaryOid: string | null): string[] {
  const heading =
    files.length === 1 ? `A file is ${OVER_LIMIT}:` : `${files.length} files are ${OVER_LIMIT}:`;
  const listed = files.map(({ path, bytes, since }) => {
    const commit = since === null ? undefined : commits.at(since);
    const by = commit === undefined ? '' : `, since ${commit.oid.slice(0, ID_LENGTH)} "${titleOf(commit)}"`;
    return `  ${oneLine(path)}: ${megabytes(bytes)}${by}`;
  });
  return [heading, ...listed, ...wayOut(files, commits, boundaryOid)];
}

function titleOf({ commit }: NonNullable<ReturnType<NewCommits['at']>>): string {
  return oneLine(pullRequestText(commit).title);
}

/**
 * Names a file from the root on, wherever the command is run (gitglossary, "pathspec"). Signs of a
 * pattern are signs: else, `a[1]` would take `a1` along.
 */
function pathspecOf(path: string): string {
  return /^[\p{L}\p{N}_.][^*?[\\]*$/u.test(path) ? `:/${path}` : `:(top,literal)${path}`;
}

/** Says how the files leave the commits. */
function wayOut(files: readonly LargeFile[], commits: NewCommits, boundaryOid: string | null): string[] {
  const paths = files.map(({ path }) => shellWord(pathspecOf(path))).join(' ');
  const places = files.map(({ since }) => since);
  const them = files.length === 1 ? 'it' : 'them';
  const notEnough = `Deleting ${them} in a new commit is not enough. Take ${them} out of`;
  if (places.every((since) => since === commits.length - 1))
    return [
      `${notEnough} your last commit, and push again:`,
      `  git rm --cached ${paths} && git commit --amend --no-edit`,
    ];
  const first = places.includes(null) ? undefined : commits.at(Math.min(...places.map(Number)));
  const from = first === undefined ? (boundaryOid ?? '--root') : `${first.oid.slice(0, ID_LENGTH)}^`;
  const remove = `git rm --cached --quiet --ignore-unmatch ${paths} && git commit --amend --no-edit --quiet --allow-empty`;
  return [
    `${notEnough} each commit, and push again:`,
    `  git rebase --rebase-merges --exec ${shellWord(remove)} ${from}`,
  ];
}
