/** Large pushes, the ways in which HTTP carries them, and the limits (contract, section 8). */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Contribution, contribute, expectAccepted, expectRefused } from '../support/contribution.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

// A push that waits until the client's time is up waits longer than a test may take.
const bed = useOwnTestBed({ env: { READ_TIMEOUT: '5m' } });

const MiB = 1024 * 1024;

/** Files that no compression makes smaller. */
function incompressible(count: number, bytes: number): Record<string, Buffer> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`random/${index}.bin`, randomBytes(bytes)]),
  );
}

/** Pushes and answers the requests that the client made, as its HTTP library traced them. */
async function tracedPush({ clone, person }: Contribution): Promise<string[]> {
  const trace = join(person.home, 'trace');
  const pushed = await person.git(clone.gitFolder, ['push', 'origin', `HEAD:refs/heads/${person.branch}`], {
    env: { GIT_USER_AGENT: person.userAgent, GIT_TRACE_CURL: trace, GIT_TRACE_CURL_NO_DATA: '1' },
  });
  expect(pushed.code, pushed.stderr).toBe(0);
  const sent = readFileSync(trace, 'latin1')
    .split('\n')
    .filter((line) => line.includes('=> Send header'));
  return sent.map((line) => line.replace(/^.*=> Send header: /, ''));
}

describe('a push of more than 1 MiB', exhaustive, () => {
  it('is asked about first, by a probe that counts as nothing, and comes in chunks', async () => {
    const contribution = await contribute(bed);
    await contribution.clone.commit({ files: incompressible(1, 1.5 * MiB) });
    const headers = await tracedPush(contribution);
    const posts = headers.filter((line) => /^(POST|Content-Length|Transfer-Encoding)/i.test(line));
    expect(posts).toEqual([
      expect.stringMatching(/^POST .*git-receive-pack HTTP/),
      'Content-Length: 4',
      expect.stringMatching(/^POST .*git-receive-pack HTTP/),
      'Transfer-Encoding: chunked',
    ]);
    await bed.host.onlyPull(contribution.upstream);
    expect(bed.host.requestsFor(contribution.upstream, 'POST', /receive-pack$/)).toHaveLength(1);
  });

  it('of many megabytes and many objects arrives whole', async () => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    const small = Array.from({ length: 1_500 }, (_, index) => [
      `many/${index % 40}/${index}.txt`,
      `${index}\n`,
    ]);
    await clone.commit({ files: Object.fromEntries(small) as Record<string, string> });
    await clone.commit({ files: incompressible(4, 2 * MiB) });
    await expectAccepted(bed, contribution, await clone.push());
    const [sent] = await bed.host.pushes(contribution.upstream);
    expect(sent?.announcedObjects).toBeGreaterThan(1_500);
    expect(sent?.isComplete).toBe(true);
  });
});

describe('the limits', exhaustive, () => {
  it('take an object of 10 MB', async () => {
    const contribution = await contribute(bed);
    await contribution.clone.commit({ files: { 'zeros.bin': Buffer.alloc(10 * MiB) } });
    await expectAccepted(bed, contribution, await contribution.clone.push());
  });

  it('take a repository of 500 MB', async () => {
    const contribution = await contribute(bed, { sizeKb: 500 * 1024 });
    await contribution.clone.commit();
    await expectAccepted(bed, contribution, await contribution.clone.push());
  });

  it('refuse an empty repository, to which no pull request can be opened', async () => {
    const upstream = await bed.createUpstream({ commits: 0 });
    const clone = await bed.person().init(upstream.url);
    await clone.commit();
    const pushed = await clone.push('origin', 'HEAD:refs/heads/main');
    const lines = await expectRefused(bed, upstream, pushed, 'the repository is empty');
    expect(lines.join('\n')).toContain('has no commit yet');
  });
});
