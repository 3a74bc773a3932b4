import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type DeliveryResult, Outbox, type Waiting } from '../../src/durable/outbox.ts';

const FAILED: DeliveryResult = { kind: 'failed', askedMs: 0, all: false };
const ATTEMPT_MS = 10_000;

interface Entry extends Waiting {
  readonly name: number;
}

/** Each attempt takes ten seconds. Those before `failing` fail. */
function outbox(count: number, failing: number, failed: DeliveryResult = FAILED) {
  const entries: Entry[] = Array.from({ length: count }, (_, name) => ({
    name,
    at: 0,
    attempts: 0,
    dueAt: 0,
  }));
  const rules = { entries, save: () => {}, lifeMs: () => Infinity, receiver: () => 'topic' };
  const box = new Outbox<Entry>(rules);
  const run = () =>
    box.empty(async ({ name }) => {
      vi.setSystemTime(Date.now() + ATTEMPT_MS);
      return Promise.resolve<DeliveryResult>(name < failing ? failed : { kind: 'done' });
    });
  return { run, left: () => entries.map(({ name }) => name) };
}

beforeEach(() => vi.setSystemTime(0));
afterEach(() => vi.useRealTimers());

describe('what a receiver refuses slowly', () => {
  it.each([
    ['waits from the refusal on', 0, 5_000],
    ['waits as long as it asks from then on', 30_000, 30_000],
  ])('%s', async (_, askedMs, waitMs) => {
    expect(await outbox(1, 1, { ...FAILED, askedMs, all: true }).run()).toBe(ATTEMPT_MS + waitMs);
  });

  it('does not keep the rest from being tried', async () => {
    const { run, left } = outbox(25, 20);
    expect(await run()).toBe(Date.now());
    await run();
    expect(left()).toHaveLength(20);
  });
});
