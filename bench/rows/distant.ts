/**
 * A push of one commit to a host that is far away, in round trips to it: through the service, and straight to the fork.
 *
 * With the distance, only the round trips of a push take longer. So the difference between two distances gives their
 * number, with one for each new TCP connection that is waited for. The difference between one and more round trips for a
 * new connection gives the number of these connections; each costs one round trip more with TLS.
 *
 * The service is measured without new commits upstream, and with new ones, so that it must sync the fork and list
 * upstream's new commits: once for a clone that does not know them, and once for one that stands on them, so that the
 * fork must have them first.
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
const MORE_SET_UPS = 4;
const MOST_MORE = { still: 1, moved: 2, fetched: 3 };
const FETCHED = 'upstream-main';

type Way = keyof typeof MOST_MORE | 'straight';

export async function distant(workspace: Workspace): Promise<Row[]> {
  const near = await pushAcross({ roundTripMs: NEAR_MS, setUps: 1 }, workspace);
  const far = await pushAcross({ roundTripMs: FAR_MS, setUps: 1 }, workspace);
  const slow = await pushAcross({ roundTripMs: FAR_MS, setUps: 1 + MORE_SET_UPS }, workspace);
  const roundTrips = (way: Way): number => (far[way] - near[way]) / (FAR_MS - NEAR_MS);
  const connections = (way: Way): number => (slow[way] - far[way]) / (MORE_SET_UPS * FAR_MS);
  return [
    moreThanStraight('one-commit push to a distant host', 'round trips', roundTrips, 'still'),
    moreThanStraight('the same, and the commit stands on what is new', 'round trips', roundTrips, 'fetched'),
    moreThanStraight('one-commit push to a distant host', 'new connections', connections, 'still'),
  ];
}

function moreThanStraight(
  name: string,
  unit: string,
  count: (way: Way) => number,
  way: keyof typeof MOST_MORE,
): Row {
  return row({
    name: `${name}: ${unit} more than ${count('straight').toFixed(1)}`,
    // To a tenth, as well as it can be measured.
    value: Math.round(10 * (count(way) - count('straight'))) / 10,
    reference: 1,
    goal: MOST_MORE[way],
    unit,
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
        moved: async () => {
          await rig.moveUpstream(target);
          return rig.push(client, target, await newBranch());
        },
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
