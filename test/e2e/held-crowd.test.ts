/** Many held pushes that are due at once: all are published, each once, and no limit of the host's is broken. */
import { expect, it } from 'vitest';
import { pass } from './support/held.ts';
import { useTestBed } from './support/test-bed.ts';
import { packOf, pushBody, readPushAnswer, sendPush } from './support/wire.ts';

const PUSHES = 40;
/** A small GitHub. */
const MOST = 16;
const WITHIN_MS = 4_000;

/** The clock of the cron trigger is ahead here. Looking for old forks with it would forget what was created. */
const bed = useTestBed({ env: { LIMIT_CREATIONS: `${MOST}/4s`, FORK_LIFE: '0' } });

it('are published within the limits of the account, each once, and a live push passes them', async () => {
  const upstream = await bed.createUpstream();
  const clone = await bed.person().clone(upstream.url);
  const newId = await clone.commit();
  const pack = await packOf(clone, ['HEAD', '^origin/main']);
  const push = async (index: number, options: string[]): Promise<void> => {
    const ref = `refs/heads/topic-${index}`;
    const body = pushBody({ commands: [{ newId, ref }], pack, options });
    const answer = await sendPush(upstream.url, bed.person(), body);
    expect(readPushAnswer(answer).report).toEqual(['unpack ok', `ok ${ref}`]);
  };
  for (let index = 0; index < PUSHES; index++) await push(index, ['delay=1h']);
  expect(await bed.host.pulls(upstream)).toEqual([]);
  await Promise.all([pass(bed), pass(bed)]);
  await push(PUSHES, ['delay=0s']);
  await expect
    .poll(async () => (await Promise.all([pass(bed), pass(bed)]), (await bed.host.pulls(upstream)).length), {
      timeout: 60_000,
    })
    .toBe(PUSHES + 1);
  await pass(bed);
  const pulls = await bed.host.pulls(upstream);
  expect(pulls).toHaveLength(PUSHES + 1);
  expect(new Set(pulls.map(({ head }) => head)).size).toBe(PUSHES + 1);
  const path = `/repos/${upstream.fullName}/pulls?state=all&per_page=100`;
  const listed = await bed.host.call<{ created_at: string }[]>('GET', path);
  const times = listed.map((pull) => Date.parse(pull.created_at)).toSorted((a, b) => a - b);
  for (const [index, time] of times.entries()) {
    const later = times[index + MOST];
    // The host tells whole seconds.
    if (later !== undefined) expect(later - time).toBeGreaterThanOrEqual(WITHIN_MS - 1_000);
  }
}, 120_000);
