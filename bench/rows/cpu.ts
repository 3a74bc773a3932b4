/**
 * Measures workerd's processor time for a push of one commit, against that of the `git push` that
 * sends it. It decides what a million pushes cost, and how much a crowd of them leaves to others.
 * Sixty pushes are measured together, twelve at a time, because the kernel counts in steps of 10
 * ms. Git's discovery before each push is included.
 */
import { branchOfCommits } from '../support/histories.ts';
import { fastImport } from '../support/fast-import.ts';
import { median, type Row, row } from '../support/figures.ts';
import { lineOfCommits } from '../support/repositories.ts';
import { processorMs, processorMsOfEnded } from '../support/processor.ts';
import { type Rig, type Target, withRig } from '../support/rig.ts';
import type { Workspace } from '../support/workspace.ts';

const ROUNDS = 3;
const PUSHES = 60;
const AT_A_TIME = 12;
const MOST_TIMES = 1.3;

export async function cpu(workspace: Workspace): Promise<Row[]> {
  const { source, client } = await lineOfCommits(workspace, 10);
  await fastImport(client, branches());
  const rounds: { readonly service: number; readonly client: number }[] = [];
  await withRig(workspace, async (rig) => {
    const target = await rig.repository(source, client);
    // The first round warms up.
    for (let round = 0; round <= ROUNDS; round++)
      rounds.push(await processorTimes(rig, client, target, round));
  });
  const measured = rounds.slice(1);
  return [
    row({
      name: `one-commit push, ${AT_A_TIME} at a time: processor time, against the client’s`,
      value: median(measured.map((times) => times.service)),
      reference: median(measured.map((times) => times.client)),
      goal: MOST_TIMES,
      unit: 'ms',
    }),
  ];
}

/** Measures the processor time of one push, in milliseconds. */
async function processorTimes(rig: Rig, client: string, target: Target, round: number) {
  const before = { service: processorMs(rig.workerdPid), client: processorMsOfEnded() };
  for (let pushed = 0; pushed < PUSHES; pushed += AT_A_TIME) {
    const batch = Array.from({ length: AT_A_TIME }, (_, at) => branchName(round, pushed + at));
    await Promise.all(batch.map((branch) => rig.push(client, target, branch)));
  }
  return {
    service: (processorMs(rig.workerdPid) - before.service) / PUSHES,
    client: (processorMsOfEnded() - before.client) / PUSHES,
  };
}

const branchName = (round: number, push: number): string => `cpu-${round}-${push}`;

function* branches(): Generator<string> {
  for (let round = 0; round <= ROUNDS; round++) {
    for (let push = 0; push < PUSHES; push++) {
      yield* branchOfCommits(branchName(round, push), 1, round * PUSHES + push);
    }
  }
}
