/**
 * Counts the round trips of a one-commit push to a host that is far away, through the service and
 * straight to the fork.
 *
 * A greater distance makes only the round trips of a push take longer. So the difference between
 * two distances gives their number, with one more for each new TCP connection that is waited for.
 *
 * The service is measured without new commits upstream, and with a push that is based on new ones,
 * which the fork must get first.
 */
import { branchOfCommits } from '../support/histories.ts';
import { fastImport } from '../support/fast-import.ts';
import { medians, type Row, row } from '../support/figures.ts';
import type { Distance } from '../support/relay-process.ts';
import { lineOfCommits } from '../support/repositories.ts';
import { withRig } from '../support/rig.ts';
import type { Workspace } from '../support/workspace.ts';

const ROUNDS = 7;
const NEAR_MS = 50;
const FAR_MS = 200;
/**
 * Goals. The three round trips are for the push's own connection, for the question about the
 * repository, because a discovery asks only what a clone asks, and for the one with which a clone
 * begins. The measurement is exact to a fifth of a round trip.
 */
const MOST_MORE = { still: 3.2, fetched: 4.2 };
const FETCHED = 'upstream-main';

type Way = keyof typeof MOST_MORE | 'straight';

export async function distant(workspace: Workspace): Promise<Row[]> {
  const near = await pushAcross({ roundTripMs: NEAR_MS, setUps: 1 }, workspace);
  const far = await pushAcross({ roundTripMs: FAR_MS, setUps: 1 }, workspace);
  const roundTrips = (way: Way): number => (far[way] - near[way]) / (FAR_MS - NEAR_MS);
  return [
    moreThanStraight('one-commit push to a distant host', roundTrips, 'still'),
    moreThanStraight('the same, and the commit stands on what is new upstream', roundTrips, 'fetched'),
  ];
}

function moreThanStraight(name: string, count: (way: Way) => number, way: keyof typeof MOST_MORE): Row {
  return row({
    name: `${name}: round trips more than ${count('straight').toFixed(1)}`,
    // Rounded to a tenth, which is the precision of the measurement.
    value: Math.round(10 * (count(way) - count('straight'))) / 10,
    reference: 1,
    goal: MOST_MORE[way],
    unit: 'round trips',
  });
}

async function pushAcross(distance: Distance, workspace: Workspace): Promise<Record<Way, number>> {
  const { source, client } = await lineOfCommits(workspace, 10);
  let commits = 0;
  return withRig(
    workspace,
    async (rig) => {
      const target = await rig.repository(source, client);
      const newBranch = async (from?: string): Promise<string> => {
        const branch = `distant-${++commits}`;
        await fastImport(client, branchOfCommits(branch, 1, commits, from));
        return branch;
      };
      return medians(ROUNDS, {
        still: async () => rig.push(client, target, await newBranch()),
        fetched: async () => {
          await rig.moveUpstream(target);
          await rig.fetch(client, target, FETCHED);
          return rig.push(client, target, await newBranch(`refs/heads/${FETCHED}^0`));
        },
        straight: async () => rig.pushStraight(client, target, await newBranch()),
      });
    },
    { distance },
  );
}
