/**
 * A push of one commit, as most are: through the service, and straight to the fork by someone who owns it.
 *
 * About a third of the additional time is the host's, which opens the pull request. Most of the rest are the three new
 * objects of each push here (the push, its address, its pull request): on one machine, each creates its own database,
 * which takes 5 ms on a disk and less than 1 ms in memory. The goal of the ratio is missed: it is 1.7 to 2.0 where a
 * direct push takes 44 to 55 ms, and about 1.7 with TMPDIR on a tmpfs. The additional time is 34 to 46 ms.
 */
import { branchOfCommits } from '../support/histories.ts';
import { fastImport } from '../support/fast-import.ts';
import { medians, type Row, row } from '../support/figures.ts';
import { lineOfCommits } from '../support/repositories.ts';
import { withRig } from '../support/rig.ts';
import type { Workspace } from '../support/workspace.ts';

const ROUNDS = 21;
const MOST_TIMES = 1.5;
const MOST_MS_MORE = 300;

export async function oneCommit(workspace: Workspace): Promise<Row[]> {
  const { source, client } = await lineOfCommits(workspace, 10);
  await fastImport(client, branches());
  const { service, straight } = await withRig(workspace, async (rig) => {
    const target = await rig.repository(source, client);
    return medians(ROUNDS, {
      service: (round) => rig.push(client, target, `service-${round}`),
      straight: (round) => rig.pushStraight(client, target, `straight-${round}`),
    });
  });
  return [
    row({ name: 'one-commit push', value: service, reference: straight, goal: MOST_TIMES, unit: 'ms' }),
    row({
      name: 'one-commit push: time on top, of 300 ms',
      value: service - straight,
      reference: MOST_MS_MORE,
      goal: 1,
      unit: 'ms',
    }),
  ];
}

function* branches(): Generator<string> {
  for (let round = 0; round <= ROUNDS; round++) {
    yield* branchOfCommits(`service-${round}`, 1, 2 * round);
    yield* branchOfCommits(`straight-${round}`, 1, 2 * round + 1);
  }
}
