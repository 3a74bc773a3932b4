/**
 * A push of one commit to a host that is far away, in round trips to it: through the service, and
 * straight to the fork.
 *
 * With the distance, only the round trips of a push take longer. So the difference between two
 * distances gives their number, with one for each new TCP connection that is waited for.
 *
 * The service is measured without new commits upstream, and with commits that stand on new ones, so
 * that the fork must have them first.
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
 * Three: for the push’s own connection, for the question about the repository, as a discovery asks
 * only what a clone asks, too, and for that with which a clone begins. A fifth of one is how
 * exactly they can be measured.
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
    // To a tenth, as well as it can be measured.
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
