/** Tries that the networks around a client have together. */
import { expect, it } from 'vitest';
import { clientIn, networkOf } from '../../src/limits/client.ts';
import { OPEN_LIMITS, type OpenLimits } from '../../src/limits/limits.ts';
import { TryLimits } from '../../src/limits/tries.ts';
import { loggerOf } from '../../src/log.ts';

it.each([
  ['203.0.113.9', null],
  ['2001:db8:1:2::3', 240],
  // Each circuit of an onion service: four of them must not shut it.
  ['fc00:dead:beef:4dad::1:2', 1_200],
])('of what the networks around %s try together, %s are let through', async (address, most) => {
  const own = [{ most: 60, withinMs: 60_000 }];
  const tried = new TryLimits({
    client: async () => clientIn(networkOf(address), 'a secret'),
    open: Object.fromEntries(Object.keys(OPEN_LIMITS).map((name) => [name, own])) as unknown as OpenLimits,
    windows: () => expect.unreachable(),
    isOneMachine: false,
    scarceMs: () => 0,
    logger: loggerOf({ logFormat: 'text' }),
  });
  const wider = most === null ? null : [{ most, withinMs: 60_000 }];
  for (const name of ['comments', 'pushes', 'discoveries', 'lookUps'] as const)
    expect(await tried.widened(name)).toEqual(wider);
  // They count for all of these networks already.
  for (const name of ['reports', 'calls', 'prefixAdmin'] as const)
    expect(await tried.widened(name)).toBeNull();
});
