/**
 * A rollback at every step of publishing a delayed push: whatever the host has got by then, nothing of it stays open,
 * and nothing follows.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { delayed, pageOf, pass } from './support/delayed.ts';
import { Operator, OPERATOR } from './support/operator.ts';
import { useTestBed } from './support/test-bed.ts';

const bed = useTestBed({ env: OPERATOR });
/** Publishing sends so many requests to the host. */
const MOST_REQUESTS = 9;

it('leaves nothing open', async () => {
  const operator = new Operator(bed);
  const ends: string[] = [];
  for (let requests = 1; requests <= MOST_REQUESTS; requests++) {
    const { upstream, name } = await delayed(bed);
    const before = bed.host.requests.length;
    const over = new AbortController();
    const passing = pass(bed).finally(() => over.abort());
    while (bed.host.requests.length < before + requests && !over.signal.aborted) await delay(1);
    await expect.poll(async () => (await operator.rollBack()).body).toMatchObject({ failed: 0 });
    await passing;
    await pass(bed);
    const open = (await bed.host.pulls(upstream)).filter(({ state }) => state === 'open');
    expect(open, `after ${requests} requests`).toEqual([]);
    ends.push(/^200 (\w+)/.exec(await pageOf(bed, name))?.[1] ?? '');
  }
  // It was rolled back before it was published, and after.
  expect(new Set(ends)).toContain('Discarded');
  expect([...new Set(ends)].filter((end) => !['Discarded', 'Published'].includes(end))).toEqual([]);
});
