/** Metrics of real pushes, comments and host calls, as an operator sees them. */
import { expect, it } from 'vitest';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { LIVE_METRICS, readMetrics } from '../support/metrics.ts';
import { speak } from '../support/speak.ts';
import { useOwnTestBed } from '../support/test-bed.ts';

const bed = useOwnTestBed({ env: LIVE_METRICS });

/** The sum of the series of a name whose labels match. */
async function sum(name: string, labels = /./): Promise<number> {
  const lines = (await readMetrics(bed.service)).split('\n').filter((line) => line.startsWith(`${name}{`));
  return lines
    .filter((line) => labels.test(line))
    .reduce((total, line) => total + Number(line.split(' ').at(-1)), 0);
}

it('counts pushes, issues and what they ask of the host, by outcome and status', async () => {
  const { upstream, clone } = await contribute(bed);
  await clone.commit();
  await expectAccepted(bed, { upstream, clone }, await clone.push());
  const issues = `/v1/gh/${upstream.fullName}/issues/anonymous`;
  await speak(bed, bed.person(), issues, { title: 'Title', body: 'Words' });
  await speak(bed, bed.person(), issues, { title: 'Title' });
  expect(await sum('gitveil_pushes_total', /"accepted"/)).toBe(1);
  expect(await sum('gitveil_push_duration_seconds_count', /"accepted"/)).toBe(1);
  const issueRoute = 'route="/v1/:host/:owner/:repo/issues/anonymous"';
  for (const status of [200, 400])
    expect(await sum('gitveil_http_requests_total', new RegExp(`${issueRoute},status="${status}"`))).toBe(1);
  expect(await sum('gitveil_outgoing_requests_total', /"git",status="200"/)).toBeGreaterThan(0);
  expect(await sum('gitveil_outgoing_requests_total', /"rest",status="201"/)).toBeGreaterThan(0);
  // What is told and tidied up after the answers takes a moment.
  await expect
    .poll(() => sum('gitveil_outgoing_requests_total', /"notifications",status="200"/))
    .toBeGreaterThan(0);
  const json = async () => JSON.parse(await readMetrics(bed.service, 'application/json')) as unknown;
  await expect.poll(json).toEqual({
    memory: {
      alloc: expect.any(Number) as number,
      // A push and two issues were read, each into 16 KiB at least.
      total_alloc: expect.toSatisfy((bytes: number) => bytes >= 3 * 16 * 1024) as number,
      sys: 128 * 1024 * 1024,
      num_gc: expect.any(Number) as number,
    },
    goroutines: 1,
    uptime: expect.stringMatching(/s$/) as string,
  });
});
