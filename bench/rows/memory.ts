/**
 * How much memory a push of 95 MB takes, four of them at once, and one of 10,000 commits, which all wait in memory
 * until the last one has come: a push has to leave room for others in an isolate of 128 MB. Each measurement starts a
 * new service, because a service never frees all the memory that it has used.
 */
import { medians, type Row, row } from '../support/figures.ts';
import { growthDuring } from '../support/memory.ts';
import { type BranchAhead, commitsAhead, megabytesAhead } from '../support/repositories.ts';
import { type Target, withRig } from '../support/rig.ts';
import type { Workspace } from '../support/workspace.ts';

const ROUNDS = 5;
const MEGABYTES = 95;
const COMMITS = 10_000;
const MOST_MEBIBYTES = { one: 32, four: 96, commits: 64 };

export async function memory(workspace: Workspace): Promise<Row[]> {
  const large = await megabytesAhead(workspace, MEGABYTES);
  const many = await commitsAhead(workspace, COMMITS);
  const { one, four, commits } = await medians(
    ROUNDS,
    {
      one: () => growth(workspace, large, 1),
      four: () => growth(workspace, large, 4),
      commits: () => growth(workspace, many, 1),
    },
    { warmUp: false },
  );
  return [
    memoryRow('one push of 95 MB', one, MOST_MEBIBYTES.one),
    memoryRow('four pushes of 95 MB at once', four, MOST_MEBIBYTES.four),
    memoryRow('one push of 10,000 commits', commits, MOST_MEBIBYTES.commits),
  ];
}

function memoryRow(what: string, growthMebibytes: number, most: number): Row {
  return row({
    name: `memory, ${what}: growth, of ${most} MiB`,
    value: growthMebibytes,
    reference: most,
    goal: 1,
    unit: 'MiB',
  });
}

async function growth(
  workspace: Workspace,
  { source, client, branch }: BranchAhead,
  pushes: number,
): Promise<number> {
  return withRig(workspace, async (rig) => {
    const targets: Target[] = [];
    for (let push = 0; push < pushes; push++) targets.push(await rig.repository(source, client));
    return growthDuring(rig.workerdPid, () =>
      Promise.all(targets.map((target) => rig.push(client, target, branch))),
    );
  });
}
