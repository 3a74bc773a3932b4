/**
 * Fetches from a host that cannot be reached or breaks off, by clients that leave, and of
 * repositories that are large.
 */
import { randomBytes } from 'node:crypto';
import { readdirSync, readlinkSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { remoteLines } from '../support/push-output.ts';
import { RawConnection } from '../support/raw-http.ts';
import { growthDuring } from '../support/resident-memory.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import type { Upstream } from '../support/upstream.ts';
import { fetchBody, send } from '../support/wire.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { pkt } from '../../support/pkt-line.ts';

const MiB = 1024 * 1024;
const UPLOAD_PACK_TYPE = { 'Content-Type': 'application/x-git-upload-pack-request' };

const bed = useOwnTestBed();
/** Nothing listens there. */
const NOWHERE = '127.0.0.1:1';
const lost = useOwnTestBed({ env: { HOSTING_URL: `http://${NOWHERE}` } });

/** A repository whose packs do not shrink. */
async function largeUpstream(mebibytes: number): Promise<Upstream> {
  const upstream = await bed.createUpstream();
  await upstream.git('config', 'core.compression', '0');
  await upstream.git('config', 'core.bigFileThreshold', '1m');
  const files = Object.fromEntries(
    Array.from({ length: mebibytes / 5 }, (_, index) => [`random-${index}.bin`, randomBytes(5 * MiB)]),
  );
  await upstream.grow({ files });
  return upstream;
}

const SENTENCE = `Failed to reach ${NOWHERE}. Try again in a few minutes.`;

describe('a host that cannot be reached', exhaustive, () => {
  it('is 502 with its name, for discovery and for upload-pack; a discovery is plain text to Git', async () => {
    const url = lost.remoteUrl('octo', 'hello');
    const person = lost.person();
    const services = ['git-upload-pack', 'git-receive-pack'];
    const discover = (headers: Record<string, string>) =>
      services.map((service) => send(`${url}/info/refs?service=${service}`, { person, headers }));
    const discoveries = await Promise.all(discover({}));
    const answers = [
      ...discoveries,
      ...(await Promise.all(discover({ 'User-Agent': 'isomorphic-git/1.44.11' }))),
      await send(`${url}/git-upload-pack`, {
        method: 'POST',
        person,
        headers: UPLOAD_PACK_TYPE,
        body: pkt(null),
      }),
    ];
    for (const answer of answers) {
      const { status, headers, body } = answer;
      expect(status).toBe(502);
      const isForGit = discoveries.includes(answer);
      expect(headers['content-type']).toBe(isForGit ? 'text/plain; charset=UTF-8' : 'application/json');
      const words = isForGit ? `${SENTENCE}\n` : JSON.stringify({ error: `failed to reach ${NOWHERE}` });
      expect(body.toString()).toBe(words);
    }
  });

  it('lets a real client fail at once, with a word about it, and without asking for a password', async () => {
    const person = lost.person();
    const clone = await person.init(lost.remoteUrl('octo', 'hello'));
    await clone.commit();
    for (const run of [await clone.tryGit('fetch', 'origin'), await clone.push()]) {
      expect(run.code).not.toBe(0);
      expect(remoteLines(run)).toEqual([SENTENCE]);
    }
    expect(person.wasAskedForPassword).toBe(false);
  });
});

describe('a host with a fault', exhaustive, () => {
  it('is named to a real client that fetches, with its status', async () => {
    const upstream = await bed.createUpstream();
    const clone = await bed.person().clone(upstream.url);
    const answer = { status: 503, headers: { 'content-type': 'text/html' }, body: '<html>' };
    bed.sandbox.faults.inject({ path: /info\/refs/, answer });
    const run = await clone.tryGit('fetch');
    const { host } = new URL(bed.sandbox.url);
    expect(remoteLines(run)).toEqual([
      `${host} answers with an error (HTTP 503). Try again in a few minutes.`,
    ]);
    expect(run.stderr).toContain(`The requested URL returned error: 503`);
  });

  it('that says why in plain text is quoted', async () => {
    const upstream = await bed.createUpstream();
    const clone = await bed.person().clone(upstream.url);
    const body = 'Repository unavailable due to a takedown.\n';
    bed.sandbox.faults.inject({ path: /info\/refs/, answer: { status: 451, body } });
    expect(remoteLines(await clone.tryGit('fetch'))).toEqual([body.trim()]);
  });
});

describe('a host with a fault, while a shallow clone fetches and the service itself asks for refs', () => {
  it.each([
    [429, 429],
    [451, 451],
    [503, 503],
    [401, 404],
  ])('has its status %i passed on as %i, with a sentence', async (status, expected) => {
    const upstream = await bed.createUpstream();
    const body = Buffer.concat([
      pkt(`want ${await upstream.tip()} shallow side-band-64k ofs-delta\n`),
      pkt(`shallow ${await upstream.tip()}\n`),
      pkt('deepen 2\n'),
      pkt(null),
      pkt('done\n'),
    ]);
    const answer = { status, headers: { 'content-type': 'text/html' }, body: '<html>' };
    bed.sandbox.faults.inject({ path: /git-upload-pack$/, times: 9, answer });
    const fetched = await send(`${upstream.url}/git-upload-pack`, {
      method: 'POST',
      person: bed.person(),
      headers: UPLOAD_PACK_TYPE,
      body,
    });
    expect(fetched.status).toBe(expected);
    expect(fetched.headers['content-type']).toMatch(/^text\/plain/);
    const { host } = new URL(bed.sandbox.url);
    const next = status === 451 ? '' : ' Try again in a few minutes.';
    const fault = `${host} answers with an error (HTTP ${status}).${next}\n`;
    const missing = `${upstream.fullName} does not exist, or is not public.\n`;
    expect(fetched.body.toString()).toBe(expected === status && status !== 404 ? fault : missing);
  });

  it('shows its status to a real client', exhaustive, async () => {
    const upstream = await bed.createUpstream();
    const person = bed.person();
    await person.git(person.home, ['clone', '--depth=1', upstream.url, 'shallow']);
    await upstream.grow({ count: 1 });
    bed.sandbox.faults.inject({ path: /git-upload-pack$/, times: 9, answer: { status: 429 } });
    const run = await person.git(`${person.home}/shallow`, [
      '-c',
      'protocol.version=0',
      'fetch',
      '--unshallow',
    ]);
    expect(run.code).toBe(128);
    expect(run.stderr).toContain('HTTP 429');
  });
});

describe('a host that breaks off', exhaustive, () => {
  it.each([
    ['its list of refs', /info\/refs/, 20],
    ['its pack', /git-upload-pack$/, 3000],
  ])('in the middle of %s shows as a broken answer, never as a whole one', async (_, path, afterBytes) => {
    const upstream = await bed.createUpstream({ commits: 20 });
    const person = bed.person();
    // What breaks off on a connection that was used before is asked for again.
    bed.sandbox.faults.inject({ path, cut: { during: 'answer', afterBytes }, times: 9 });
    const run = await person.git(person.home, ['clone', '-c', 'protocol.version=0', upstream.url, 'broken']);
    expect(run.code).not.toBe(0);
    expect(person.wasAskedForPassword).toBe(false);
    bed.sandbox.faults.clear();
    const clone = await person.clone(upstream.url);
    expect(await clone.git('rev-parse', 'HEAD')).toBe(await upstream.tip());
  });
});

/** Ids of the processes that serve a repository. */
function programsAt(path: string): string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readlinkSync(`/proc/${name}/cwd`) === path;
    } catch {
      // It has ended in the meantime.
      return false;
    }
  });
}

describe('a clone of 50 MB', exhaustive, () => {
  let upstream: Upstream;

  beforeAll(async () => {
    upstream = await largeUpstream(50);
  });

  it('streams through, and the service holds a small part of it at a time', async () => {
    const person = bed.person();
    // What the first clone of all warms up does not count.
    await person.clone((await bed.createUpstream()).url);
    // Three at once: what waits for the garbage collection counts, and is up to 75 MB on a busy
    // machine.
    const people = [person, bed.person(), bed.person()];
    const grown = await growthDuring(bed.service.workerdPid, async () => {
      const clones = await Promise.all(people.map((one) => one.clone(upstream.url)));
      for (const clone of clones) expect(await clone.git('rev-parse', 'HEAD')).toBe(await upstream.tip());
    });
    expect(grown).toBeLessThan(110);
  });

  it('ends at the host, too, when the client leaves, and others go on', async () => {
    const connection = await RawConnection.open(bed.service.url);
    const body = await fetchBody(upstream);
    const length = { 'Content-Length': String(body.length) };
    connection.sendHead(`/v1/gh/${upstream.fullName}/git-upload-pack`, bed.person(), {
      ...UPLOAD_PACK_TYPE,
      ...length,
    });
    connection.send(body);
    await connection.received(100_000);
    // So that the host is not done before anybody looks.
    connection.stopReading();
    expect(programsAt(upstream.path)).not.toEqual([]);
    connection.vanish();
    const other = await bed.createUpstream();
    expect(await (await bed.person().clone(other.url)).git('rev-parse', 'HEAD')).toBe(await other.tip());
    await expect.poll(() => programsAt(upstream.path)).toEqual([]);
  });
});
