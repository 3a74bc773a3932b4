/**
 * Measures an honest push while one address sends 100 refused pushes a second, against a push
 * without them. The isolate that has refused that address once refuses it from memory, so the
 * guard, the account and the client windows are left to others. On one machine they also compete
 * for the processor.
 */
import { fastImport } from '../support/fast-import.ts';
import { medians, type Row, row } from '../support/figures.ts';
import { branchOfCommits } from '../support/histories.ts';
import { lineOfCommits } from '../support/repositories.ts';
import { type Rig, type Target, withRig } from '../support/rig.ts';
import { SteadyLoad } from '../support/steady-load.ts';
import type { Workspace } from '../support/workspace.ts';
import { pktText } from '../../test/support/pkt-line.ts';

const ROUNDS = 11;
const PER_SECOND = 100;
const MOST_TIMES = 1.5;
/** Limit of tries, above the 60 pushes that an address has in a minute. */
const MOST_TRIES = 100;

const COMMAND = `${'0'.repeat(40)} ${'a'.repeat(40)} refs/heads/fix\0 report-status side-band-64k`;
/** A push with a command, its flush, and no pack. */
const BODY = `${pktText(COMMAND)}0000`;
const HEADERS = {
  'Content-Type': 'application/x-git-receive-pack-request',
  'CF-Connecting-IP': '192.0.2.100',
};

export async function crowd(workspace: Workspace): Promise<Row[]> {
  const { source, client } = await lineOfCommits(workspace, 10);
  await fastImport(client, branches());
  const { crowded, quiet } = await withRig(workspace, async (rig) => {
    const target = await rig.repository(source, client);
    return medians(ROUNDS, {
      crowded: (round) => pushInCrowd(rig, client, target, `crowded-${round}`),
      quiet: (round) => rig.push(client, target, `quiet-${round}`),
    });
  });
  const name = `push beside ${PER_SECOND} refused pushes a second`;
  return [row({ name, value: crowded, reference: quiet, goal: MOST_TIMES, unit: 'ms' })];
}

async function pushInCrowd(rig: Rig, client: string, target: Target, branch: string): Promise<number> {
  const url = `${target.service}/git-receive-pack`;
  await untilRefused(url);
  const load = await SteadyLoad.start([{ url, method: 'POST', headers: HEADERS, body: BODY }], PER_SECOND);
  try {
    return await rig.push(client, target, branch);
  } finally {
    await load.stop();
  }
}

/** Pushes until the address is over its limit. */
async function untilRefused(url: string): Promise<void> {
  for (let left = MOST_TRIES; left > 0; left--) {
    const answer = await fetch(url, { method: 'POST', headers: HEADERS, body: BODY });
    if ((await answer.text()).includes('too many pushes')) return;
  }
  throw new Error('the crowd was not refused');
}

function* branches(): Generator<string> {
  for (let round = 0; round <= ROUNDS; round++) {
    yield* branchOfCommits(`crowded-${round}`, 1, 2 * round);
    yield* branchOfCommits(`quiet-${round}`, 1, 2 * round + 1);
  }
}
