/** Who waits for a turn at the account. */
import { expect, it } from 'vitest';
import { reserve } from '../../src/limits/port.ts';
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
