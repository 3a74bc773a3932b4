/**
 * Measures the same push of one commit to a small repository and to one with a long history, where
 * it must not cost more.
 */
import { branchOfCommits } from '../support/histories.ts';
import { fastImport } from '../support/fast-import.ts';
import { medians, type Row, row } from '../support/figures.ts';
import { lineOfCommits } from '../support/repositories.ts';
import { type Rig, withRig } from '../support/rig.ts';
import type { Workspace } from '../support/workspace.ts';

const ROUNDS = 25;
const FEW = 10;
const MANY = 20_000;
const MOST_TIMES = 1.1;

export async function repositorySize(workspace: Workspace): Promise<Row[]> {
  const { few, many } = await withRig(workspace, async (rig) =>
    medians(ROUNDS, { few: await pushes(workspace, rig, FEW), many: await pushes(workspace, rig, MANY) }),
  );
  const name = 'one-commit push: 20,000 commits upstream, against 10';
  return [row({ name, value: many, reference: few, goal: MOST_TIMES, unit: 'ms' })];
}

async function pushes(
  workspace: Workspace,
  rig: Rig,
  commits: number,
): Promise<(round: number) => Promise<number>> {
  const { source, client } = await lineOfCommits(workspace, commits);
  await fastImport(client, branches());
  const target = await rig.repository(source, client);
  return (round) => rig.push(client, target, `size-${round}`);
}

function* branches(): Generator<string> {
  for (let round = 0; round <= ROUNDS; round++) yield* branchOfCommits(`size-${round}`, 1, 1_000 + round);
}
