/** Who waits for a turn at the account. */
import { expect, it } from 'vitest';
import { clientIn, networkOf } from '../../src/limits/client.ts';
import { Limits, reserve } from '../../src/limits/port.ts';
import { OPEN_LIMITS, type OpenLimits } from '../../src/limits/limits.ts';
import { forkWants, writeWants } from '../../src/limits/wants.ts';
import { loggerOf } from '../../src/log.ts';
import { PatientClock } from '../host/support/scripted-host.ts';

const limits = [{ most: 20, withinMs: 60_000 }];
const creation = forkWants('by', null, { creations: limits, openings: limits });

it('a creation waits for the turn that it was given, after the account has answered', async () => {
  const clock = new PatientClock();
  const account = {
    reserve: async () =>
      ({ kind: 'granted', id: 'a', windows: [], full: [], pauseMs: 0, turnMs: 3_000 }) as const,
    refusal: async () => null,
    release: async () => {},
  };
  const logger = loggerOf({ logFormat: 'text' });
  expect(await reserve(account, creation, logger, clock)).toMatchObject({ kind: 'grant' });
  expect(clock.slept).toEqual([3_000]);
  expect([creation.isSpaced, writeWants('by').isSpaced]).toEqual([true, undefined]);
});

it.each([
  ['203.0.113.9', null],
  ['2001:db8:1:2::3', 240],
  // Each circuit of an onion service: four of them must not shut it.
  ['fc00:dead:beef:4dad::1:2', 1_200],
])('of what the networks around %s try together, %s are let through', async (address, most) => {
  const own = [{ most: 60, withinMs: 60_000 }];
  const tried = new Limits({
    client: async () => clientIn(networkOf(address), 'a secret'),
    open: Object.fromEntries(Object.keys(OPEN_LIMITS).map((name) => [name, own])) as unknown as OpenLimits,
    windows: () => expect.unreachable(),
    account: () => expect.unreachable(),
    mayTrack: async () => {},
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
