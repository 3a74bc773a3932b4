/**
 * Measures a push of one commit, as most pushes are, through the service and straight to the fork
 * by its owner.
 *
 * About a third of the additional time is the host's, which opens the pull request. On one machine,
 * the new object of that pull request also creates its own database.
 */
import { branchOfCommits } from '../support/histories.ts';
import { fastImport } from '../support/fast-import.ts';
import { medians, type Row, row } from '../support/figures.ts';
import { lineOfCommits } from '../support/repositories.ts';
import { withRig } from '../support/rig.ts';
import type { Workspace } from '../support/workspace.ts';

const ROUNDS = 21;
const MOST_TIMES = 2;

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
    row({
      name: 'one-commit push, against one straight to the fork',
      value: service,
      reference: straight,
      goal: MOST_TIMES,
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
