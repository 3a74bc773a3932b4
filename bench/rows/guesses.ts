/**
 * Measures what the speed of an answer tells a stranger, in two ways. They push what somebody else
 * has pushed within ten minutes, and the same with another author: both times the answer says what
 * is public, and opens a pull request. And they begin a push, before and after somebody else has
 * begun one since upstream's last commit, to a host that is 50 ms away.
 */
import { commit, fastImport } from '../support/fast-import.ts';
import { median, type Row, row } from '../support/figures.ts';
import { lineOfCommits } from '../support/repositories.ts';
import { type Rig, type Target, withRig } from '../support/rig.ts';
import type { Workspace } from '../support/workspace.ts';

const ROUNDS = 15;
const DAY_SECONDS = 24 * 60 * 60;
const BRANCHES = ['guess-1', 'guess-2'] as const;
const AWAY = { roundTripMs: 50, setUps: 1 };

export async function guesses(workspace: Workspace): Promise<Row[]> {
  const { source, client } = await lineOfCommits(workspace, 10);
  await fastImport(client, BRANCHES.map(byAuthor));
  const pushes = await withRig(workspace, async (rig) => {
    const target = await rig.repository(source, client);
    await rig.push(client, target, BRANCHES[0]);
    const times = BRANCHES.map(() => new Array<number>());
    for (let round = 0; round < ROUNDS; round++)
      for (const place of round % 2 === 0 ? [0, 1] : [1, 0])
        times[place]?.push(await rig.push(client, target, BRANCHES[place] ?? ''));
    // The shortest time, because other load of the machine only makes it longer.
    return times.map((each) => Math.min(...each));
  });
  const discoveries = await withRig(
    workspace,
    async (rig) => {
      const times = { first: new Array<number>(), second: new Array<number>() };
      for (let round = 0; round < ROUNDS; round++) {
        const target = await rig.repositoryWithoutFork(source);
        await rig.moveUpstream(target);
        times.first.push(await timeOfDiscovery(rig, target));
        times.second.push(await timeOfDiscovery(rig, target));
      }
      return { first: median(times.first), second: median(times.second) };
    },
    { distance: AWAY },
  );
  return [
    row({
      name: 'a stranger pushes what somebody has pushed, or a wrong guess: the slower, against the other',
      value: Math.max(...pushes),
      reference: Math.min(...pushes),
      goal: 1.1,
      unit: 'ms',
    }),
    row({
      name: 'a discovery after another one, against the first since upstream’s last commit',
      value: discoveries.second,
      reference: discoveries.first,
      goal: null,
      unit: 'ms',
    }),
  ];
}

/** Writes a commit that differs by its author alone. */
function byAuthor(branch: string, author: number): string {
  const at = Math.floor(Date.now() / 1000) - DAY_SECONDS / 2;
  const files = [['guess.txt', 'A guess\n']] as const;
  const change = { from: 'refs/heads/main', at, message: 'A guess\n', files };
  return commit({ ...change, ref: `refs/heads/${branch}` }, author);
}

async function timeOfDiscovery(rig: Rig, target: Target): Promise<number> {
  const began = performance.now();
  await rig.discover(target);
  return performance.now() - began;
}
