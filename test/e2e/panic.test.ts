/** The panic switch, as a person with Git meets it. */
import { describe, expect, it } from 'vitest';
import { contribute, expectAccepted, expectRefused } from './support/contribution.ts';
import { Operator, OPERATOR } from './support/operator.ts';
import { statusTable } from './support/push-output.ts';
import { useTestBed } from './support/test-bed.ts';

const bed = useTestBed({ env: OPERATOR });
const operator = new Operator(bed);

const SUSPENSION = [
  'SERVICE TEMPORARILY SUSPENDED',
  'The service is suspended due to detected bot activity sending mass PRs.',
  'Please retry in 15 minutes.',
];

describe('in panic mode', () => {
  it('a push is rejected with the reason, before the host is asked for anything', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit();
    await operator.setPanic(true);
    // As after a fetch, so that discovery asks nothing new either.
    await clone.git('fetch', 'origin');
    const before = bed.host.requests.length;
    const pushed = await clone.push();
    const lines = await expectRefused(bed, upstream, pushed, 'service temporarily suspended');
    expect(lines).toEqual(expect.arrayContaining(SUSPENSION));
    const asked = bed.host.requests.slice(before).map(({ path }) => path);
    expect(asked.filter((path) => !path.includes('/info/refs') && !path.includes('git-upload-pack'))).toEqual(
      [],
    );
    await operator.setPanic(false);
    await expectAccepted(bed, contribution, await clone.push());
  });

  it('every ref gets the reason, and also a pack of more than a megabyte', async () => {
    const { clone, upstream } = await contribute(bed);
    await clone.commit({ files: { 'large.bin': new Uint8Array(3_000_000).map(() => Math.random() * 256) } });
    await clone.git('tag', '-m', 'Version one', 'v1');
    await operator.setPanic(true);
    const pushed = await clone.push('origin', 'HEAD:refs/heads/one', 'v1');
    await operator.setPanic(false);
    await expectRefused(bed, upstream, pushed, 'service temporarily suspended');
    expect(statusTable(pushed)).toHaveLength(2);
    for (const row of statusTable(pushed))
      expect(row).toMatch(/\(push rejected: service temporarily suspended\)$/);
  });

  it('a clone works, and the status tells', async () => {
    const upstream = await bed.createUpstream();
    await operator.setPanic(true);
    const status = await fetch(`${bed.service.url}/api/status`);
    await bed.person().clone(upstream.url);
    await operator.setPanic(false);
    expect(await status.json()).toEqual({ panic_mode: true });
  });
});
