/**
 * A rollback at every step of publishing a delayed push: whatever the host has got by then, nothing
 * of it stays open, and nothing follows.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { readRefs } from '../../../sandbox/bare-repository.ts';
import { delayed, pageOf, pass } from '../support/delayed.ts';
import { Operator, OPERATOR } from '../support/operator.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed({ env: OPERATOR });
/** Publishing sends so many requests to the host. */
const MOST_REQUESTS = 9;

it('leaves nothing open', exhaustive, async () => {
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

it('leaves no branch either, if the commits arrive only after it', exhaustive, async () => {
  const operator = new Operator(bed);
  const { upstream, name } = await delayed(bed);
  const path = new RegExp(`/${bed.sandbox.botLogin}/${upstream.name}\\.git/git-receive-pack$`);
  const rolledBack = Promise.withResolvers<void>();
  bed.sandbox.faults.inject({ method: 'POST', path, until: rolledBack.promise });
  const passing = pass(bed);
  await expect.poll(() => bed.host.requests.some((request) => path.test(request.path))).toBe(true);
  await operator.rollBack();
  rolledBack.resolve();
  await passing;
  expect(await pageOf(bed, name)).toMatch(/^200 Discarded/);
  const branches = [...readRefs(bed.host.forkPath(upstream) as string).keys()];
  expect(branches.filter((branch) => branch.includes('anon-'))).toEqual([]);
});
