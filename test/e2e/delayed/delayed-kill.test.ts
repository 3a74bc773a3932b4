/**
 * `kill -9` at any moment while a delayed push is published: workerd is killed when a random
 * request of it reaches the code host, and started again. The push is published once, or still
 * waits. `KILLS=50` for more, `KILL_SEED` for the same.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { LEASE_MS } from '../../../src/durable/lease.ts';
import { randomFrom } from '../../../bench/support/random.ts';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { delayed, delayedAs, pageOf, pass, publishedAs } from '../support/delayed.ts';
import { buildSetBack } from '../support/earlier-state.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const KILLS = Number(process.env['KILLS'] ?? 4);
const SEED = Number(process.env['KILL_SEED'] ?? 1 + Math.floor(Math.random() * 2 ** 31));
/** Publishing sends so many requests to the host. */
const MOST_REQUESTS = 9;
const MOST_MS = 25;
const WRITES = /\/(?:git-receive-pack|pulls)$/;

const bed = useOwnTestBed({ rebuild: buildSetBack, env: { CLOCK_BEHIND_MS: '0' } });

/** Begins to publish, and kills workerd in the midst of it. */
async function passAndKill({ requests, ms }: { requests: number; ms: number }): Promise<void> {
  const before = bed.host.requests.length;
  const over = new AbortController();
  // Real hosts take their time for what is written: that a kill falls into it is what matters.
  bed.sandbox.faults.inject({ method: 'POST', path: WRITES, times: 2, delayMs: 10 });
  const passing = pass(bed)
    .catch(() => {})
    .finally(() => over.abort());
  while (bed.host.requests.length < before + requests && !over.signal.aborted) await delay(1);
  await delay(ms);
  await bed.restart();
  await passing;
}

/** Looks when the lease of whoever was killed is over. */
async function later(look: () => Promise<void>): Promise<void> {
  await bed.restart(() => {}, { CLOCK_BEHIND_MS: String(-LEASE_MS) });
  await look();
  await bed.restart();
}

it(
  `a push is published once, or still waits, ${KILLS} times (seed ${SEED})`,
  { ...exhaustive, timeout: KILLS * 60_000 },
  async () => {
    const numbers = randomFrom(SEED);
    const random = (below: number) => Math.floor(numbers() * below);
    for (let round = 0; round < KILLS; round++) {
      const moment = { requests: random(MOST_REQUESTS), ms: random(MOST_MS) };
      const { upstream, name } = await delayed(bed);
      await passAndKill(moment);
      const pulls = await bed.host.pulls(upstream);
      expect(pulls.length).toBeLessThanOrEqual(1);
      if (pulls.length === 0) expect(await pageOf(bed, name)).toMatch(/^200 Delayed\n/);
      await later(() => expect.poll(async () => (await pass(bed), pageOf(bed, name))).toContain('/pull/'));
      expect(await bed.host.onlyPull(upstream)).toMatchObject({
        head: `${bed.sandbox.botLogin}:anon-${publishedAs(await pageOf(bed, name)).prHash}`,
      });
    }
  },
);

it('an update whose publisher was killed is published once', exhaustive, async () => {
  const contribution = await contribute(bed);
  const { clone, upstream } = contribution;
  await clone.commit();
  const { banner } = await expectAccepted(bed, contribution, await clone.push());
  const before = (await bed.host.onlyPull(upstream)).headSha;
  await clone.commit({ message: 'More\n' });
  delayedAs(await clone.push('-o', `pr-hash=${banner.prHash}`, '-o', 'delay=1h', 'origin', 'HEAD:topic'));
  await passAndKill({ requests: 4, ms: 5 });
  const head = async () => (await pass(bed), (await bed.host.onlyPull(upstream)).headSha);
  await later(() => expect.poll(head).not.toBe(before));
});
