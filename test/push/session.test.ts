/** A push that its person has not agreed to costs as much as a preview. */
import { expect, it, vi } from 'vitest';
import type { PushRun } from '../../src/push/push-run.ts';
import { Refusal } from '../../src/push/reply/refusal.ts';
import { type Arrival, conclude } from '../../src/push/session.ts';

/** Concludes a push that is refused like this. */
async function concluded(refusal: Refusal, takeQuota: () => Promise<void>) {
  const run = {
    limits: { takeQuota, refuseFull: async () => null },
    store: { count: vi.fn(), hash: async () => '' },
    settings: { client: 'git' },
    claims: { end: async () => {} },
    logger: { info: vi.fn(), warn: vi.fn() },
    host: { clock: { now: () => 0 } },
    notes: [],
    tell: async () => {},
    beside: vi.fn(),
  } as unknown as PushRun;
  const said = { parsed: { options: { prHash: null, preview: false } }, taken: null, statuses: () => [] };
  const task = { kind: 'refused', refusal, lines: [] };
  const arrival = { said, task, logged: 'push', startedAt: 0, discard: async () => {} };
  const { outcome } = await conclude(run, arrival as unknown as Arrival);
  return outcome.kind === 'refused' ? outcome.refusal.code : outcome.kind;
}

it.each([
  ['stopped', 1],
  ['unconfirmed', 1],
  ['names', 0],
] as const)('%s: it is counted like a preview %i times', async (code, times) => {
  const takeQuota = vi.fn(async () => {});
  expect(await concluded(new Refusal(code, 'so it is', []), takeQuota)).toBe(code);
  expect(takeQuota).toHaveBeenCalledTimes(times);
});

it('is refused by the limit that it reaches', async () => {
  const full = new Refusal('account', 'the bot account has little left', []);
  const takeQuota = vi.fn().mockRejectedValue(full);
  expect(await concluded(new Refusal('unconfirmed', 'so it is', []), takeQuota)).toBe('account');
});
