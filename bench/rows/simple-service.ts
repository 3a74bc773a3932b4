/**
 * A push of one commit to a repository of 100 MB, beside the simplest service that could do the
 * same: for each push it clones the repository, applies the commits as the bot with `git
 * format-patch` and `git am`, and pushes them to the fork. Its part of the HTTP, its limits and the
 * pull request are left out, so it does less.
 */
import { rmSync } from 'node:fs';
import { branchOfBytes, branchOfCommits } from '../support/histories.ts';
import { fastImport } from '../support/fast-import.ts';
import { medians, type Row, row } from '../support/figures.ts';
import { clientOf, git } from '../support/git.ts';
import { emptyRepository, lineOfCommits } from '../support/repositories.ts';
import { type Target, WARM_UP, withRig } from '../support/rig.ts';
import type { Workspace } from '../support/workspace.ts';

const ROUNDS = 5;
const MEGABYTES = 100;
/** Of the simple service's time. */
const MOST = 0.25;
const BOT = ['-c', 'user.name=bot', '-c', 'user.email=bot@users.noreply.example'];

export async function simpleService(workspace: Workspace): Promise<Row[]> {
  const { source, client } = await largeUpstream(workspace);
  const { service, simple } = await withRig(workspace, async (rig) => {
    const target = await rig.repository(source, client);
    return medians(ROUNDS, {
      service: (round) => rig.push(client, target, `service-${round}`),
      simple: (round) => simplePush(workspace.folder('applied'), client, target, `simple-${round}`),
    });
  });
  const name = `one-commit push to ${MEGABYTES} MB, against clone, format-patch and am`;
  return [row({ name, value: service, reference: simple, goal: MOST, unit: 'ms' })];
}

/** Upstream has `MEGABYTES`; the client is ahead by a branch for each push. */
async function largeUpstream(workspace: Workspace): Promise<{ source: string; client: string }> {
  const small = await lineOfCommits(workspace, 10);
  const source = await emptyRepository(workspace.folder('large'));
  await git(source, ['fetch', '--quiet', small.source, 'main:main']);
  await fastImport(source, branchOfBytes('large', MEGABYTES));
  await git(source, ['branch', '--quiet', '--force', 'main', 'large']);
  await git(source, ['branch', '--quiet', '-D', 'large']);
  const client = await clientOf(source, workspace.folder('large-client'));
  await fastImport(client, branches());
  return { source, client };
}

/** Milliseconds. What the client pushes is fetched, which costs the same. */
async function simplePush(folder: string, client: string, target: Target, branch: string): Promise<number> {
  const began = performance.now();
  await git(folder, ['clone', '--quiet', target.host, '.']);
  await git(folder, ['fetch', '--quiet', client, branch]);
  const patches = await git(folder, ['format-patch', 'main..FETCH_HEAD']);
  await git(folder, [...BOT, 'am', '--quiet', ...patches.trim().split('\n')]);
  await git(folder, ['push', '--quiet', target.fork, `HEAD:refs/heads/${branch}`]);
  const taken = performance.now() - began;
  rmSync(folder, { recursive: true });
  return taken;
}

function* branches(): Generator<string> {
  yield* branchOfCommits(WARM_UP, 1, 999_999);
  for (let round = 0; round <= ROUNDS; round++) {
    yield* branchOfCommits(`service-${round}`, 1, 2 * round);
    yield* branchOfCommits(`simple-${round}`, 1, 2 * round + 1);
  }
}
