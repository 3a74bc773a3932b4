/**
 * Measures delayed pushes against the same number of pushes that are published at once, and how
 * long publishing those that are due takes, against as many live pushes one after the other.
 */
import { branchOfCommits } from '../support/histories.ts';
import { fastImport } from '../support/fast-import.ts';
import { median, type Row, row } from '../support/figures.ts';
import { lineOfCommits } from '../support/repositories.ts';
import { type Rig, type Target, withRig } from '../support/rig.ts';
import type { Workspace } from '../support/workspace.ts';

const ROUNDS = 3;
const PUSHES = 20;
const LAST_RUNS = 8;
const SPACING_MS = 3 * 60 * 1000;
const HOUR_MS = 60 * 60 * 1000;

type Kind = 'live' | 'delayed';
type Figure = Kind | 'released';

export async function delayed(workspace: Workspace): Promise<Row[]> {
  const { source, client } = await lineOfCommits(workspace, 10);
  await fastImport(client, branches());
  const figures = await withRig(workspace, async (rig) => {
    const target = await rig.repository(source, client);
    const measured: Record<Figure, number[]> = { live: [], delayed: [], released: [] };
    const measure = async (figure: Figure, action: () => Promise<void>): Promise<void> => {
      const startedAt = performance.now();
      await action();
      measured[figure].push(performance.now() - startedAt);
    };
    // The first round warms up.
    for (let round = 0; round <= ROUNDS; round++) {
      await measure('live', () => pushAll(rig, client, target, 'live', round));
      await measure('delayed', () => pushAll(rig, client, target, 'delayed', round));
      await measure('released', () => release(rig, round));
    }
    const of = (figure: Figure): number => median(measured[figure].slice(1));
    return { live: of('live'), delayed: of('delayed'), released: of('released') };
  });
  const name = `${PUSHES} pushes of one commit`;
  const perMinute = Math.round((PUSHES * 60_000) / figures.released);
  return [
    row({
      name: `${name}: delayed, against published`,
      value: figures.delayed,
      reference: figures.live,
      goal: 1,
      unit: 'ms',
    }),
    row({
      name: `${name}: releasing them, against live pushes one after the other`,
      value: figures.released,
      reference: figures.live,
      goal: 1,
      unit: 'ms',
      note: `${perMinute} a minute`,
    }),
  ];
}

async function pushAll(rig: Rig, client: string, target: Target, kind: Kind, round: number): Promise<void> {
  for (let push = 0; push < PUSHES; push++) {
    await rig.push(client, target, branchName(kind, round, push), kind === 'delayed' ? ['delay=1h'] : []);
  }
}

/**
 * Publishes what is due. The last few come minutes apart, one in each run of the scheduled handler.
 */
async function release(rig: Rig, round: number): Promise<void> {
  const late = Date.now() + (3 + round) * HOUR_MS;
  for (let run = 0; run < LAST_RUNS; run++) await rig.runScheduled(late + run * SPACING_MS);
}

const branchName = (kind: Kind, round: number, push: number): string => `${kind}-${round}-${push}`;

function* branches(): Generator<string> {
  let count = 0;
  for (const kind of ['live', 'delayed'] as const) {
    for (let round = 0; round <= ROUNDS; round++) {
      for (let push = 0; push < PUSHES; push++) {
        yield* branchOfCommits(branchName(kind, round, push), 1, count++);
      }
    }
  }
}
