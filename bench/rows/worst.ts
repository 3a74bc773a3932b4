/**
 * Measures workerd's processor time for the pushes that cost most for their bytes. They are written
 * by hand, and are previews, because anybody may send one at once.
 */
import { pushBody, RECEIVE_PACK, send } from '../../test/e2e/support/wire.ts';
import { median, type Row, row } from '../support/figures.ts';
import { git } from '../support/git.ts';
import { processorMs } from '../support/processor.ts';
import { lineOfCommits } from '../support/repositories.ts';
import { type Rig, type Target, withRig } from '../support/rig.ts';
import { type WorstPush, worstPushes } from '../support/worst-pushes.ts';
import type { Workspace } from '../support/workspace.ts';

const ROUNDS = 3;
const KILOBYTE = 1_000;
/** Sizes of the pushes, and how long they may take. */
const SIZES: readonly (readonly [kilobytes: number, mostMs: number])[] = [
  [100, 100],
  [1_000, 500],
];

export async function worst(workspace: Workspace): Promise<Row[]> {
  const { source, client } = await lineOfCommits(workspace, 10);
  const tip = (await git(source, ['rev-parse', 'main'])).trim();
  return withRig(workspace, async (rig) => {
    const target = await rig.repository(source, client);
    const rows: Row[] = [];
    for (const [kilobytes, mostMs] of SIZES) {
      const { kind, ms, count } = await worstOf(rig, target, kilobytes * KILOBYTE, tip);
      const name = `a push of ${kilobytes} KB: processor time of the worst of ${count} kinds, of ${mostMs} ms`;
      rows.push(row({ name, value: ms, reference: mostMs, goal: 1, unit: 'ms', note: kind }));
    }
    return rows;
  });
}

async function worstOf(rig: Rig, target: Target, bytes: number, tip: string) {
  let costs: readonly { readonly push: WorstPush; readonly ms: number }[] = [];
  let count = 0;
  for (const push of worstPushes(bytes, tip)) {
    count += 1;
    const ms = await cost(rig, target, push);
    // Only these are kept, to be sent again.
    costs = [...costs, { push, ms }].toSorted((a, b) => b.ms - a.ms).slice(0, ROUNDS);
  }
  let most = { kind: '', ms: 0 };
  for (const { push, ms } of costs) {
    const times = [ms];
    while (times.length < ROUNDS) times.push(await cost(rig, target, push));
    if (median(times) > most.ms) most = { kind: push.kind, ms: median(times) };
  }
  return { ...most, count };
}

async function cost(rig: Rig, { service }: Target, { newId, pack }: WorstPush): Promise<number> {
  const before = processorMs(rig.workerdPid);
  // Over a connection of its own: making the next push may take longer than one stays open.
  const answer = await send(`${service}/git-receive-pack`, {
    method: 'POST',
    headers: { 'Content-Type': RECEIVE_PACK, 'CF-Connecting-IP': rig.newAddress() },
    body: pushBody({
      commands: [{ newId, ref: 'refs/heads/topic' }],
      options: ['preview', 'publish-names', 'sign-off'],
      pack,
    }),
  });
  if (answer.status !== 200) throw new Error(`a push was answered with ${answer.status}`);
  return processorMs(rig.workerdPid) - before;
}
