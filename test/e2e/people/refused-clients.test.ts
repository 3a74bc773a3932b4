/** A client that is over its limit: what it is told, and that it costs the bot account nothing. */
import { describe, expect, it } from 'vitest';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { FormClient } from '../support/form-client.ts';
import type { Person } from '../support/person.ts';
import { prPage } from '../support/pr-page.ts';
import { comment } from '../support/speak.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const COMMENTS = 600;
const ALLOWED = 60;
const AT_ONCE = 20;

// By the hour: the test may take longer than a minute.
const bed = useOwnTestBed({
  env: { LIMIT_COMMENTS: `${ALLOWED}/1h`, LIMIT_DISCOVERIES: '3/1h', LIMIT_PUSHES: '1/1h' },
});

/** REST calls about repositories whose names begin so. */
const callsFor = (name: string): string[] =>
  bed.host.requests.map(({ path }) => path).filter((path) => path.startsWith(`/api/v3/repos/octo/${name}`));

/** Comments on made-up repositories, some at once; the names of those that were refused for the limit. */
async function commentOnMadeUp(person: Person): Promise<string[]> {
  const names = Array.from({ length: COMMENTS }, (_, index) => `made-up-${index}-x`);
  const refused: string[] = [];
  const left = [...names];
  const speakOn = async (): Promise<void> => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      const { status } = await comment(bed, person, `octo/${name}/issues/1`, 'Hello');
      expect([400, 429]).toContain(status);
      if (status === 429) refused.push(name);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, speakOn));
  return refused;
}

describe('600 comments from one address to made-up repositories', exhaustive, () => {
  it('cost the bot account no call for those that are refused', async () => {
    const refused = await commentOnMadeUp(bed.person());
    expect(refused).toHaveLength(COMMENTS - ALLOWED);
    expect(refused.flatMap(callsFor)).toEqual([]);
    // The repository and its policy file, for each that was not refused.
    expect(callsFor('made-up-').length).toBeLessThanOrEqual(2 * ALLOWED);
  });
});

describe('a client that has discovered too often', exhaustive, () => {
  it.each(['git-upload-pack', 'git-receive-pack'])(
    'for %s is told so in words, and the host is asked nothing for it from the first time on',
    async (service) => {
      const upstream = await bed.createUpstream();
      const { headers } = bed.person();
      const discover = async () => {
        const before = bed.host.requests.length;
        const answer = await fetch(`${upstream.url}/info/refs?service=${service}`, { headers });
        return { answer, text: await answer.text(), asked: bed.host.requests.length - before };
      };
      for (let time = 0; time < 3; time++) expect((await discover()).answer.status).toBe(200);
      const { answer, text, asked } = await discover();
      expect(answer.status).toBe(429);
      expect(text).toMatch(/^Too many clones, .*; try again in about an? (?:minute|hour)\.\n$/);
      expect(Number(answer.headers.get('Retry-After'))).toBeGreaterThan(0);
      expect(asked).toBe(0);
    },
  );
});

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
