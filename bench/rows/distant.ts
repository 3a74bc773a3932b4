/**
 * A push of one commit to a host that is far away, in round trips to it: through the service, and straight to the fork.
 *
 * With the distance, only the round trips of a push take longer. So the difference between two distances gives their
 * number. The service is measured once without new commits upstream, and once with new ones, so that it must sync the
 * fork and list upstream's new commits.
 */
import { branchOfCommits } from '../support/histories.ts';
import { fastImport } from '../support/fast-import.ts';
import { medians, type Row, row } from '../support/figures.ts';
import { lineOfCommits } from '../support/repositories.ts';
import { withRig } from '../support/rig.ts';
import type { Workspace } from '../support/workspace.ts';

const ROUNDS = 7;
const NEAR_MS = 50;
const FAR_MS = 200;
const MOST_MORE = 1;
const MOST_MORE_MOVED = 2;

const WAYS = ['still', 'moved', 'straight'] as const;
type Way = (typeof WAYS)[number];

export async function distant(workspace: Workspace): Promise<Row[]> {
  const { source, client } = await lineOfCommits(workspace, 10);
  await fastImport(client, branches());
  const near = await pushAcross(NEAR_MS, workspace, source, client);
  const far = await pushAcross(FAR_MS, workspace, source, client);
  const roundTrips = (way: Way): number => (far[way] - near[way]) / (FAR_MS - NEAR_MS);
  const straight = roundTrips('straight');
  const named = (name: string, way: Way, goal: number): Row =>
    row({
      name: `${name}: round trips more than ${straight.toFixed(1)}`,
      // To a tenth, as well as it can be measured.
      value: Math.round(10 * (roundTrips(way) - straight)) / 10,
      reference: 1,
      goal,
      unit: 'round trips',
    });
  return [
    named('one-commit push to a distant host', 'still', MOST_MORE),
    named('the same when upstream has moved', 'moved', MOST_MORE_MOVED),
  ];
}

async function pushAcross(
  roundTripMs: number,
  workspace: Workspace,
  source: string,
  client: string,
): Promise<Record<Way, number>> {
  return withRig(
    workspace,
    async (rig) => {
      const target = await rig.repository(source, client);
      return medians(ROUNDS, {
        still: (round) => rig.push(client, target, `still-${round}`),
        moved: async (round) => {
          await rig.moveUpstream(target);
          return rig.push(client, target, `moved-${round}`);
        },
        straight: (round) => rig.pushStraight(client, target, `straight-${round}`),
      });
    },
    { roundTripMs },
  );
}

function* branches(): Generator<string> {
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [index, way] of WAYS.entries())
      yield* branchOfCommits(`${way}-${round}`, 1, 3 * round + index);
  }
}
