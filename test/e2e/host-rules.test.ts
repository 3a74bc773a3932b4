/** Repositories that take no pull requests, or only those of collaborators. */
import { describe, expect, it } from 'vitest';
import { contribute, expectRefused } from './support/contribution.ts';
import { useTestBed } from './support/test-bed.ts';

const bed = useTestBed();

describe('a repository that takes pull requests', () => {
  it.each([
    ['none', 'takes no pull requests.'],
    ['collaborators', 'takes pull requests only from its collaborators.'],
  ] as const)('of %s refuses a push before anything is written', async (pullRequests, sentence) => {
    const { clone, upstream } = await contribute(bed, { pullRequests });
    await clone.commit();
    const pushed = await clone.push();
    const lines = await expectRefused(bed, upstream, pushed, 'not accepted by the repository');
    expect(lines).toContain(`${upstream.fullName} ${sentence}`);
    expect(lines).toContain(`You can open an issue instead: ${upstream.url}/new-issue`);
    expect(bed.host.forkPath(upstream)).toBeNull();
    const page = await (await fetch(upstream.url, { headers: { accept: 'text/html' } })).text();
    expect(page).toContain('It accepts only anonymous issues and replies.');
    expect(page).not.toContain('Change a file');
    expect(bed.host.requestsFor(upstream, 'POST', /forks|receive-pack|pulls/)).toEqual([]);
  });
});
