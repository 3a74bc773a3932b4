/**
 * How much memory a push of 95 MB takes, and four at once: whatever its size, a push has to leave room for others in an
 * isolate of 128 MB. A new service for each measurement, as none gives back all that it once had.
 */
import { medians, type Row, row } from '../support/figures.ts';
import { growthDuring } from '../support/memory.ts';
import { megabytesAhead } from '../support/repositories.ts';
import { type Target, withRig } from '../support/rig.ts';
import type { Workspace } from '../support/workspace.ts';

const ROUNDS = 5;
const MEGABYTES = 95;
const MOST_MEBIBYTES = { one: 32, four: 96 };

export async function memory(workspace: Workspace): Promise<Row[]> {
  const { one, four } = await medians(
    ROUNDS,
    { one: () => growth(workspace, 1), four: () => growth(workspace, 4) },
    { warmUp: false },
  );
  return [
    memoryRow('one push of 95 MB', one, MOST_MEBIBYTES.one),
    memoryRow('four pushes of 95 MB at once', four, MOST_MEBIBYTES.four),
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

async function growth(workspace: Workspace, pushes: number): Promise<number> {
  const { source, client, branch } = await megabytesAhead(workspace, MEGABYTES);
  return withRig(workspace, async (rig) => {
    const targets: Target[] = [];
    for (let push = 0; push < pushes; push++) targets.push(await rig.repository(source, client));
    return growthDuring(rig.workerdPid, () =>
      Promise.all(targets.map((target) => rig.push(client, target, branch))),
    );
  });
}
