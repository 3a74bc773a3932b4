/**
 * Many delayed pushes that are due at once: all are published, each once, no limit of the host's is
 * broken, and live pushes pass them.
 *
 * `GITHUB_CROWD=1` repeats it with the limits of GitHub, which takes three minutes.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../support/delayed.ts';
import { type TestBedOptions, useOwnTestBed } from '../support/test-bed.ts';
import { packOf, pushBody, sendPush } from '../support/wire.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { readReport } from '../../support/pkt-line.ts';

/**
 * The clock of the cron trigger is ahead here. Looking for old forks with it would forget what was
 * created.
 */
const ENV = { FORK_LIFE: '0' };

interface Crowd {
  readonly pushes: number;
  /** The number of creations that the host lets the account have. */
  readonly most: number;
  readonly withinMs: number;
  /** A run that goes on for longer has used up the account's calls, and ends in no other way. */
  readonly timeoutMs: number;
  readonly env: NonNullable<TestBedOptions['env']>;
}

const SMALL: Crowd = {
  pushes: 16,
  most: 16,
  withinMs: 2_000,
  timeoutMs: 180_000,
  env: { ...ENV, LIMIT_CREATIONS: '16/2s' },
};
/** The limits that are usual here: 80 in a minute, 500 in an hour. */
const GITHUB: Crowd = {
  pushes: 200,
  most: 80,
  withinMs: 60_000,
  timeoutMs: 600_000,
  env: { ...ENV, LIMIT_CREATIONS: '80/1m,500/1h' },
};
/** A live push each so many looks. */
const LIVE_LOOKS = 8;
const PAUSE_MS = 500;
const LONGEST_RUN_MS = 4_000;

describe.each([
  ['a small host', SMALL, true],
  ['GitHub', GITHUB, process.env['GITHUB_CROWD'] !== undefined],
] as const)(
  'delayed pushes with the limits of %s',
  exhaustive,
  (_, { pushes, most, withinMs, timeoutMs, env }, isWanted) => {
    const bed = useOwnTestBed({ env });

    it.runIf(isWanted)(
      'are published within them, each once, and live pushes pass them',
      async () => {
        const upstream = await bed.createUpstream();
        const clone = await bed.person().copy(upstream);
        // A repository that is flooded waits itself, so who passes it comes to another one.
        const calm = await bed.createUpstream();
        const calmClone = await bed.person().copy(calm);
        let live = 0;
        const push = async (index: number, options: string[]): Promise<void> => {
          const ref = `refs/heads/topic-${index}`;
          const [from, to] = index < pushes ? [clone, upstream] : [calmClone, calm];
          await from.git('reset', '--quiet', '--hard', 'origin/main');
          const newId = await from.commit({ message: `Number ${index}\n` });
          const pack = await packOf(from, ['HEAD', '^origin/main']);
          const body = pushBody({ commands: [{ newId, ref }], pack, options });
          const answer = await sendPush(to.url, bed.person(), body);
          expect(readReport(answer.body).report).toEqual(['unpack ok', `ok ${ref}`]);
        };
        const pushLive = () => push(pushes + live++, ['delay=0s']);
        const opened = async () => (await bed.host.pulls(upstream)).length;

        for (let index = 0; index < pushes; index++) await push(index, ['delay=1h']);
        expect(await opened()).toBe(0);

        await pushLive();
        let jumps = 0;
        const pass = () => bed.service.runScheduled(Date.now() + 2 * HOUR_MS + jumps * 3 * MINUTE_MS);
        // Each look is after the pause of those for which there was no room. A run that waits for
        // what is due within its minute is left alone: the next one comes later than that.
        for (let left = pushes; left > 0; left = pushes - (await opened()), jumps++) {
          await Promise.race([Promise.all([pass(), pass(), delay(PAUSE_MS)]), delay(LONGEST_RUN_MS)]);
          if (jumps % LIVE_LOOKS === 0 && live <= most / 16) await pushLive();
        }
        await pass();

        const pulls = [...(await bed.host.pulls(upstream)), ...(await bed.host.pulls(calm))];
        expect(new Set(pulls.map(({ head }) => head)).size).toBe(pushes + live);
        const times: number[] = [];
        for (const { fullName } of [upstream, calm]) {
          for (let page = 1; page <= 3; page++) {
            const path = `/repos/${fullName}/pulls?state=all&per_page=100&page=${page}`;
            const listed = await bed.host.call<{ created_at: string }[]>('GET', path);
            times.push(...listed.map((pull) => Date.parse(pull.created_at)));
          }
        }
        times.sort((a, b) => a - b);
        for (const [index, time] of times.entries()) {
          const later = times[index + most];
          // The host tells whole seconds.
          if (later !== undefined) expect(later - time).toBeGreaterThanOrEqual(withinMs - 1_000);
        }
      },
      timeoutMs,
    );
  },
);
