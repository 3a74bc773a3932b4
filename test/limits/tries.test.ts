/**
 * Tries that the networks around a client have together, tries that no window can count, and the
 * calls of a client while the code host allows few more.
 */
import { describe, expect, it } from 'vitest';
import { clientIn, networkOf } from '../../src/limits/client.ts';
import { OPEN_LIMITS, type OpenLimits } from '../../src/limits/limits.ts';
import type { Limit } from '../../src/limits/sliding-window.ts';
import { TryLimits } from '../../src/limits/tries.ts';
import { loggerOf } from '../../src/log.ts';

type Setup = ConstructorParameters<typeof TryLimits>[0];

/** The tries of a client whose every open limit is this one. */
function triesOf(address: string, limit: Limit, more: Partial<Setup> = {}): TryLimits {
  const open = Object.fromEntries(Object.keys(OPEN_LIMITS).map((name) => [name, [limit]]));
  return new TryLimits({
    client: async () => clientIn(networkOf(address), 'a secret'),
    open: open as unknown as OpenLimits,
    windows: () => expect.unreachable(),
    isOneMachine: false,
    scarceMs: () => 0,
    logger: loggerOf({ logFormat: 'text' }),
    ...more,
  });
}

it.each([
  ['203.0.113.9', null],
  ['2001:db8:1:2::3', 240],
  // Each circuit of an onion service: four of them must not shut it.
  ['fc00:dead:beef:4dad::1:2', 1_200],
])('of what the networks around %s try together, %s are let through', async (address, most) => {
  const tried = triesOf(address, { most: 60, withinMs: 60_000 });
  const wider = most === null ? null : [{ most, withinMs: 60_000 }];
  for (const name of ['comments', 'pushes', 'discoveries', 'lookUps'] as const)
    expect(await tried.widened(name)).toEqual(wider);
  // They count for all of these networks already.
  for (const name of ['reports', 'calls', 'prefixAdmin'] as const)
    expect(await tried.widened(name)).toBeNull();
});

describe('where no window can count', () => {
  const dead = { windows: () => ({ hit: () => Promise.reject(new Error('disk is full')) }) };
  const limit = { most: 60, withinMs: 60_000 };

  it('the operator is let in on one machine, and guesses the password no faster', async () => {
    const tried = triesOf('203.0.113.10', limit, { ...dead, isOneMachine: true });
    for (let attempt = 0; attempt < 10; attempt++) expect((await tried.count('admin')).waitMs).toBe(0);
    expect((await tried.count('admin')).waitMs).toBeGreaterThan(0);
    await expect(tried.count('comments')).rejects.toThrow('disk is full');
  });

  it('nobody is where others may count apart', async () => {
    await expect(triesOf('203.0.113.11', limit, dead).count('admin')).rejects.toThrow('disk is full');
  });
});

it('while the code host allows few more calls, a client waits that has caused a fifth of its own, no longer than that lasts', async () => {
  let scarceMs = 0;
  const limit = { most: 10, withinMs: 60 * 60_000 };
  const tried = triesOf('203.0.113.12', limit, { scarceMs: () => scarceMs });
  await tried.charge();
  scarceMs = 5_000;
  expect((await tried.known('calls')).waitMs).toBe(0);
  await tried.charge();
  expect((await tried.known('calls')).waitMs).toBe(5_000);
  expect((await tried.known('pushes')).waitMs).toBe(0);
  scarceMs = 0;
  expect((await tried.known('calls')).waitMs).toBe(0);
});
