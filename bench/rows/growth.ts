/**
 * Measures how the cost of a push grows with its size. The cost of another commit or megabyte must
 * not depend on how many there are already. If it did, the ratio would approach that of the sizes.
 */
import { medians, type Row, row } from '../support/figures.ts';
import { commitsAhead, megabytesAhead } from '../support/repositories.ts';
import { type Rig, withRig } from '../support/rig.ts';
import type { Workspace } from '../support/workspace.ts';

const ROUNDS = 3;
const COMMITS = [1, 1_000, 10_000];
const MEGABYTES = [1, 30, 95];
const MOST_TIMES = 1.5;

type Pushes = Record<string, (round: number) => Promise<number>>;

export function growth(workspace: Workspace): Promise<Row[]> {
  return withRig(workspace, async (rig) => [
    slope('commit', 'µs', 1_000, await medians(ROUNDS, await pushesOfCommits(workspace, rig))),
    slope('megabyte', 'ms', 1, await medians(ROUNDS, await pushesOfMegabytes(workspace, rig))),
  ]);
}

async function pushesOfCommits(workspace: Workspace, rig: Rig): Promise<Pushes> {
  const pushes: Pushes = {};
  for (const commits of COMMITS) {
    const { source, client, branch } = await commitsAhead(workspace, commits);
    const target = await rig.repository(source, client);
    pushes[commits] = () => rig.push(client, target, branch);
  }
  return pushes;
}

async function pushesOfMegabytes(workspace: Workspace, rig: Rig): Promise<Pushes> {
  const pushes: Pushes = {};
  for (const megabytes of MEGABYTES) {
    const { source, client, branch } = await megabytesAhead(workspace, megabytes);
    // The host must not have any of it yet, so each push goes to a new repository.
    pushes[megabytes] = async () => rig.push(client, await rig.repository(source, client), branch);
  }
  return pushes;
}

/**
 * Compares the cost of one more between the two larger sizes with that between the two smaller
 * ones.
 */
function slope(
  what: string,
  unit: string,
  unitsAMs: number,
  msBySize: Readonly<Record<string, number>>,
): Row {
  const sizes = Object.keys(msBySize).map(Number);
  const [least = 0, middle = 0, most = 0] = sizes;
  const cost = (from: number, to: number): number =>
    (((msBySize[to] ?? 0) - (msBySize[from] ?? 0)) / (to - from)) * unitsAMs;
  const times = sizes.map((size) => `${size}: ${(msBySize[size] ?? 0).toFixed(0)} ms`);
  return row({
    name: `push: a further ${what}, from ${middle} to ${most}, against from ${least} to ${middle}`,
    value: cost(middle, most),
    reference: cost(least, middle),
    goal: MOST_TIMES,
    unit,
    note: times.join(', '),
  });
}
