/**
 * What it costs to spool 100 MB: encrypted rows of an object, against hashing as many bytes in the
 * same workerd. Each round starts a new one, because the first spool is the one that makes it grow.
 */
import { join } from 'node:path';
import { medians, type Row, row } from '../support/figures.ts';
import { Helper } from '../support/helper.ts';
import { growthDuring } from '../support/memory.ts';
import type { WorkerActions } from '../support/worker-process.ts';

const ROUNDS = 5;
const BYTES = 100_000_000;
const MOST_TIMES = { write: 15, read: 3 };
const MOST_MEBIBYTES = 24;

type Work = 'write' | 'read' | 'discard' | 'hash';

interface Spooled extends Record<Exclude<Work, 'discard'>, number> {
  readonly growth: number;
  readonly writes: number;
  readonly reads: number;
}

export async function spool(): Promise<Row[]> {
  const rounds: Spooled[] = [];
  const of = (name: keyof Spooled) => async (round: number) => {
    const spooled = (rounds[round] ??= await spooledOnce());
    return spooled[name];
  };
  const { write, read, hash, growth, writes, reads } = await medians(
    ROUNDS,
    {
      write: of('write'),
      read: of('read'),
      hash: of('hash'),
      growth: of('growth'),
      writes: of('writes'),
      reads: of('reads'),
    },
    { warmUp: false },
  );
  const timed = (name: string, value: number, goal: number): Row =>
    row({ name: `spool of 100 MB: ${name}, against SHA-256`, value, reference: hash, goal, unit: 'ms' });
  return [
    timed(`writing, ${writes} calls`, write, MOST_TIMES.write),
    timed(`reading, ${reads} calls`, read, MOST_TIMES.read),
    row({
      name: `spool of 100 MB: growth, of ${MOST_MEBIBYTES} MiB`,
      value: growth,
      reference: MOST_MEBIBYTES,
      goal: 1,
      unit: 'MiB',
    }),
  ];
}

async function spooledOnce(): Promise<Spooled> {
  const helper = new Helper<WorkerActions>(join(import.meta.dirname, '../support/worker-process.ts'));
  try {
    const { url, workerdPid } = await helper.ask('start', {
      file: 'spool-worker.ts',
      objects: { SPOOL: 'Spool' },
    });
    const ask = async (work: Work, bytes = BYTES): Promise<{ ms: number; calls: number }> => {
      const began = performance.now();
      const answer = await fetch(`${url}/${work}?bytes=${bytes}`);
      if (!answer.ok) throw new Error(`the spool answered ${answer.status}: ${await answer.text()}`);
      return { calls: Number(await answer.text()), ms: performance.now() - began };
    };
    // The first of all work loads code.
    for (const work of ['write', 'read', 'discard', 'hash'] as const) await ask(work, BYTES / 50);
    const times = { write: 0, read: 0, hash: 0 };
    let [writes, reads] = [0, 0];
    const growth = await growthDuring(workerdPid, async () => {
      ({ ms: times.write, calls: writes } = await ask('write'));
      ({ ms: times.read, calls: reads } = await ask('read'));
      await ask('discard');
    });
    ({ ms: times.hash } = await ask('hash'));
    return { ...times, growth, writes, reads };
  } finally {
    await helper.end();
  }
}
