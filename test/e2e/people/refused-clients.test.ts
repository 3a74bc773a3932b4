/** A client that is over its limit: what it is told, and that it costs the bot account nothing. */
import { describe, expect, it } from 'vitest';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { FormClient } from '../support/form-client.ts';
import { prPage } from '../support/pr-page.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

// By the hour: the test may take longer than a minute.
const bed = useOwnTestBed({
  env: { LIMIT_DISCOVERIES: '3/1h', LIMIT_PUSHES: '1/1h' },
});

/** REST calls about repositories whose names begin so. */
const callsFor = (name: string): string[] =>
  bed.host.requests.map(({ path }) => path).filter((path) => path.startsWith(`/api/v3/repos/octo/${name}`));

describe('discoveries for pushes to a repository whose fork is known', exhaustive, () => {
  it('never look it up at the host, as no clone does', async () => {
    const contribution = await contribute(bed);
    const { upstream, clone } = contribution;
    await clone.commit();
    const { banner } = await expectAccepted(bed, contribution, await clone.push());
    // Behind its answer, the service looks whether the pull request is shown.
    await expect.poll(() => prPage(bed, banner.prHash)).toMatch(/^200/);
    const calls = () => callsFor(upstream.fullName.slice('octo/'.length)).length;
    const before = calls();
    const discover = async (): Promise<number> => {
      const { headers } = bed.person();
      const answer = await fetch(`${upstream.url}/info/refs?service=git-receive-pack`, { headers });
      await answer.text();
      return answer.status;
    };
    expect(await Promise.all([discover(), discover(), discover()])).toEqual([200, 200, 200]);
    expect(await discover()).toBe(200);
    expect(calls()).toBe(before);
  });
});

describe('the form of a change', exhaustive, () => {
  it('reads nothing for a client that is over its limit of pushes, or has read too often', async () => {
    const upstream = await bed.createUpstream();
    await upstream.grow({ files: { 'notes.txt': 'One\n' } });
    const client = new FormClient(bed.service.url, bed.person());
    const path = `/v1/gh/${upstream.fullName}/change`;
    const { fields } = await client.get(`${path}?path=notes.txt`);
    const typed = { ...fields, path: 'notes.txt', text: 'Two\n', title: 'Count', description: '' };
    const send = async (step: string) => {
      const before = bed.host.requests.length;
      const { status, problem, headers } = await client.post(path, { ...typed, step });
      return { status, problem, wait: headers.get('Retry-After'), asked: bed.host.requests.length - before };
    };
    expect(await send('preview')).toMatchObject({ status: 200, problem: '' });
    const overPushes = await send('open');
    expect(overPushes).toMatchObject({ status: 429, asked: 0 });
    expect(overPushes.problem).toMatch(
      /Too many pushes from your network: at most 1 in 1h; try again in about an hour\./,
    );
    const overReads = await send('open');
    expect(overReads).toMatchObject({
      status: 429,
      asked: 0,
      wait: expect.stringMatching(/^\d+$/) as string,
    });
    expect(overReads.problem).toMatch(/^Too many clones, .* try again in about an? (?:minute|hour)\.$/);
  });
});
