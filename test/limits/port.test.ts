/** Who waits for a turn at the account. */
import { expect, it } from 'vitest';
import { reserveCreation } from '../../src/limits/port.ts';
import { forkClaim, writeClaim } from '../../src/limits/claim.ts';
import { loggerOf } from '../../src/log.ts';
import { PatientClock } from '../host/support/scripted-host.ts';

const limits = [{ most: 20, withinMs: 60_000 }];
const creation = forkClaim('by', null, { creations: limits, openings: limits });

it('a creation waits for the turn that it was given, after the account has answered', async () => {
  const clock = new PatientClock();
  const account = {
    reserve: async () =>
      ({ kind: 'granted', id: 'a', windows: [], full: [], pauseMs: 0, turnMs: 3_000 }) as const,
    denial: async () => null,
    release: async () => {},
  };
  const logger = loggerOf({ logFormat: 'text' });
  expect(await reserveCreation(account, creation, logger, clock)).toMatchObject({ kind: 'granted' });
  expect(clock.slept).toEqual([3_000]);
  expect([creation.isSpaced, writeClaim('by').isSpaced]).toEqual([true, undefined]);
});
