/**
 * A push while 2,000 requests a second ask for a badge and for the status, which both show the
 * panic switch, beside a push while as many ask for the icon. They read a copy of the switch, so
 * the guard that admits pushes does not notice them.
 */
import { fastImport } from '../support/fast-import.ts';
import { medians, type Row, row } from '../support/figures.ts';
import { branchOfCommits } from '../support/histories.ts';
import { lineOfCommits } from '../support/repositories.ts';
import { type Rig, type Target, withRig } from '../support/rig.ts';
import { SteadyLoad } from '../support/steady-load.ts';
import type { Workspace } from '../support/workspace.ts';

const ROUNDS = 11;
const PER_SECOND = 2000;
const MOST_TIMES = 1.1;
const PATHS = { switch: ['/api/status', '/badges/deployed.svg'], icon: ['/favicon.ico', '/favicon.ico'] };

export async function panicSwitch(workspace: Workspace): Promise<Row[]> {
  const { source, client } = await lineOfCommits(workspace, 10);
  await fastImport(client, branches());
  const times = await withRig(workspace, async (rig) => {
    const target = await rig.repository(source, client);
    return medians(ROUNDS, {
      switch: (round) => pushInCrowd(rig, client, target, 'switch', round),
      icon: (round) => pushInCrowd(rig, client, target, 'icon', round),
    });
  });
  const name = `push beside ${PER_SECOND} badges and statuses a second, against as many icons`;
  return [row({ name, value: times.switch, reference: times.icon, goal: MOST_TIMES, unit: 'ms' })];
}

async function pushInCrowd(
  rig: Rig,
  client: string,
  target: Target,
  crowd: keyof typeof PATHS,
  round: number,
): Promise<number> {
  const { origin } = new URL(target.service);
  const requests = PATHS[crowd].map((path) => ({ url: `${origin}${path}` }));
  const load = await SteadyLoad.start(requests, PER_SECOND);
  try {
    return await rig.push(client, target, `${crowd}-${round}`);
  } finally {
    await load.stop();
  }
}

function* branches(): Generator<string> {
  for (let round = 0; round <= ROUNDS; round++) {
    yield* branchOfCommits(`switch-${round}`, 1, 2 * round);
    yield* branchOfCommits(`icon-${round}`, 1, 2 * round + 1);
  }
}
