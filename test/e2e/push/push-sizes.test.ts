/** Large pushes, the ways in which HTTP carries them, and the limits (contract, section 8). */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Contribution, contribute, expectAccepted, expectRefused } from '../support/contribution.ts';
import { gitIn } from '../support/objects.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { packOf, pushBody, readPushAnswer, RECEIVE_PACK, send, sendPush } from '../support/wire.ts';
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

/** A push of HEAD, spelled out. */
async function bodyOf({ clone }: Contribution): Promise<Buffer> {
  const pack = await packOf(clone, ['HEAD', '^origin/main'], '--thin', '--delta-base-offset');
  const newId = await clone.git('rev-parse', 'HEAD');
  return pushBody({ commands: [{ newId, ref: 'refs/heads/topic' }], pack });
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

  it('may come in one piece instead, when the client has a large buffer', async () => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    await clone.git('config', 'http.postBuffer', String(50 * MiB));
    await clone.commit({ files: incompressible(2, MiB) });
    const headers = await tracedPush(contribution);
    expect(headers.some((line) => /^Content-Length: 2\d{6}$/.test(line))).toBe(true);
    await bed.host.onlyPull(contribution.upstream);
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

describe('a probe', exhaustive, () => {
  it('is answered with 200 and nothing, and asks the host nothing', async () => {
    const upstream = await bed.createUpstream();
    const before = bed.host.requests.length;
    const answer = await sendPush(upstream.url, bed.person(), Buffer.from('0000'));
    expect([answer.status, answer.body.length]).toEqual([200, 0]);
    expect(answer.headers['content-type']).toBe('application/x-git-receive-pack-result');
    expect(bed.host.requests.length).toBe(before);
  });
});

describe('the body of a push', exhaustive, () => {
  it.each([1, 7, 1000])('may come in pieces of %i bytes', async (size) => {
    const contribution = await contribute(bed);
    await contribution.clone.commit();
    const body = await bodyOf(contribution);
    const pieces = Array.from({ length: Math.ceil(body.length / size) }, (_, index) =>
      body.subarray(index * size, (index + 1) * size),
    );
    const answer = readPushAnswer(await sendPush(contribution.upstream.url, contribution.person, pieces));
    expect(answer.report).toEqual(['unpack ok', 'ok refs/heads/topic']);
  });

  it('may be announced with Expect: 100-continue', async () => {
    const contribution = await contribute(bed);
    const { clone, person, upstream } = contribution;
    await clone.commit();
    const body = await bodyOf(contribution);
    const answer = await new Promise<Buffer>((resolve, reject) => {
      const headers = {
        ...person.headers,
        'Content-Type': RECEIVE_PACK,
        Expect: '100-continue',
        'Content-Length': body.length,
      };
      const request = httpRequest(
        `${upstream.url}/git-receive-pack`,
        { method: 'POST', headers, agent: false },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () => resolve(Buffer.concat(chunks)));
        },
      );
      request.on('error', reject);
      // As curl does: go on when told to, or after a second.
      const timer = setTimeout(() => request.end(body), 1_000);
      request.on('continue', () => {
        clearTimeout(timer);
        request.end(body);
      });
      request.flushHeaders();
    });
    expect(readPushAnswer({ body: answer }).report).toEqual(['unpack ok', 'ok refs/heads/topic']);
  });
});

describe('the limits', exhaustive, () => {
  it('answer 413 to a push of more than 100 MB, and nothing of it stays', async () => {
    const { clone, upstream } = await contribute(bed);
    // The host keeps the pack as it is; unpacking it would be most of the time that this test takes.
    await bed.host.call('POST', `/repos/${upstream.fullName}/forks`, {});
    await gitIn(bed.host.forkPath(upstream) as string, 'config', 'receive.unpackLimit', '1');
    // Git is not to look for similarities where there are none.
    await clone.git('config', 'core.bigFileThreshold', '1m');
    await clone.git('config', 'core.compression', '0');
    await clone.commit({ files: incompressible(11, 9.8 * MiB) });
    const pushed = await clone.push();
    expect(pushed.code).toBe(1);
    expect(pushed.stderr).toContain('HTTP 413');
    expect(await bed.host.pulls(upstream)).toEqual([]);
    expect(await bed.host.workBranches(upstream)).toEqual([]);
  });

  it('refuse an object of more than 10 MB in-band, with the figure', async () => {
    const { clone, upstream } = await contribute(bed);
    await clone.commit({ files: { 'zeros.bin': Buffer.alloc(10 * MiB + 1) } });
    const lines = await expectRefused(bed, upstream, await clone.push(), /too large/);
    expect(lines.join('\n')).toMatch(/10 Mi?B/);
  });

  it('take an object of 10 MB', async () => {
    const contribution = await contribute(bed);
    await contribution.clone.commit({ files: { 'zeros.bin': Buffer.alloc(10 * MiB) } });
    await expectAccepted(bed, contribution, await contribution.clone.push());
  });

  it('refuse a repository of more than 500 MB in-band, with both figures, before anything is sent', async () => {
    const { clone, upstream } = await contribute(bed, { sizeKb: 501 * 1024 });
    await clone.commit();
    const lines = await expectRefused(bed, upstream, await clone.push(), 'the repository is too large');
    expect(lines.join('\n')).toMatch(/501 MB.*500 MB/);
    expect(bed.host.requestsFor(upstream, 'POST', /forks|receive-pack/)).toEqual([]);
  });

  it('take a repository of 500 MB', async () => {
    const contribution = await contribute(bed, { sizeKb: 500 * 1024 });
    await contribution.clone.commit();
    await expectAccepted(bed, contribution, await contribution.clone.push());
  });

  it('refuse an archived repository', async () => {
    const { clone, upstream } = await contribute(bed, { archived: true });
    await clone.commit();
    await expectRefused(bed, upstream, await clone.push(), 'the repository is archived');
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

describe('a request of the wrong type', exhaustive, () => {
  it('is refused with 415', async () => {
    const upstream = await bed.createUpstream();
    const headers = { 'Content-Type': 'application/json' };
    const answer = await send(`${upstream.url}/git-receive-pack`, {
      method: 'POST',
      headers,
      body: Buffer.from('{}'),
    });
    expect(answer.status).toBe(415);
  });
});
