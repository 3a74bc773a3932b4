/** Fetches from a host that cannot be reached or breaks off, by clients that leave, and of repositories that are large. */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { RawConnection } from './support/raw-http.ts';
import { useTestBed } from './support/test-bed.ts';
import type { Upstream } from './support/upstream.ts';
import { pkt, send } from './support/wire.ts';

const MiB = 1024 * 1024;
const UPLOAD_PACK_TYPE = { 'Content-Type': 'application/x-git-upload-pack-request' };

const bed = useTestBed();
/** Nothing listens there. */
const NOWHERE = '127.0.0.1:1';
const lost = useTestBed({ env: { HOSTING_URL: `http://${NOWHERE}` } });

async function wantBody(upstream: Upstream): Promise<Buffer> {
  return Buffer.concat([
    pkt(`want ${await upstream.tip()} side-band-64k ofs-delta\n`),
    pkt(null),
    pkt('done\n'),
  ]);
}

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

describe('a host that cannot be reached', () => {
  it('is 502 with its name, for discovery and for upload-pack', async () => {
    const url = lost.remoteUrl('octo', 'hello');
    const person = lost.person();
    const answers = [
      await send(`${url}/info/refs?service=git-upload-pack`, { person }),
      await send(`${url}/info/refs?service=git-receive-pack`, { person }),
      await send(`${url}/git-upload-pack`, {
        method: 'POST',
        person,
        headers: UPLOAD_PACK_TYPE,
        body: pkt(null),
      }),
    ];
    for (const { status, headers, body } of answers) {
      expect(status).toBe(502);
      expect(headers['content-type']).toBe('application/json');
      expect(JSON.parse(body.toString())).toMatchObject({ error: `failed to reach ${NOWHERE}` });
    }
  });

  it('lets a real client fail at once, without asking for a password', async () => {
    const person = lost.person();
    const run = await person.git(person.home, ['clone', lost.remoteUrl('octo', 'hello'), 'nothing']);
    expect(run.code).not.toBe(0);
    expect(run.stderr).toContain('502');
    expect(person.wasAskedForPassword).toBe(false);
  });
});

describe('a host that breaks off', () => {
  it.each([
    ['info/refs', /info\/refs/],
    ['git-upload-pack', /git-upload-pack$/],
  ])('before it answers %s is 502', async (path, pattern) => {
    const upstream = await bed.createUpstream();
    const body = await wantBody(upstream);
    bed.sandbox.faults.inject({ path: pattern, times: 9, cut: { during: 'request', afterBytes: 0 } });
    const { status, body: answer } =
      path === 'info/refs'
        ? await send(`${upstream.url}/info/refs?service=git-upload-pack`, { person: bed.person() })
        : await send(`${upstream.url}/${path}`, {
            method: 'POST',
            person: bed.person(),
            headers: UPLOAD_PACK_TYPE,
            body,
          });
    expect(status).toBe(502);
    expect(JSON.parse(answer.toString())).toMatchObject({
      error: `failed to reach ${new URL(bed.sandbox.url).host}`,
    });
  });

  it.each([
    ['its list of refs', /info\/refs/, 20],
    ['its pack', /git-upload-pack$/, 3000],
  ])('in the middle of %s shows as a broken answer, never as a whole one', async (_, path, afterBytes) => {
    const upstream = await bed.createUpstream({ commits: 20 });
    const person = bed.person();
    bed.sandbox.faults.inject({ path, cut: { during: 'answer', afterBytes }, times: 2 });
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

/** The largest resident memory of a process since the last reset, in MiB. */
function peakMiB(pid: number): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

describe('a clone of 50 MB', () => {
  let upstream: Upstream;

  beforeAll(async () => {
    upstream = await largeUpstream(50);
  });

  it('streams through, and the service holds a small part of it at a time', async () => {
    const person = bed.person();
    // What the first clone of all warms up does not count.
    await person.clone((await bed.createUpstream()).url);
    const pid = bed.service.workerdPid;
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
    const before = peakMiB(pid);
    const clone = await person.clone(upstream.url);
    expect(await clone.git('rev-parse', 'HEAD')).toBe(await upstream.tip());
    expect(peakMiB(pid) - before).toBeLessThan(24);
  });

  it('ends at the host, too, when the client leaves, and others go on', async () => {
    const connection = await RawConnection.open(bed.service.url);
    const body = await wantBody(upstream);
    const length = { 'Content-Length': String(body.length) };
    connection.sendHead(`/v1/gh/${upstream.fullName}/git-upload-pack`, bed.person(), {
      ...UPLOAD_PACK_TYPE,
      ...length,
    });
    connection.send(body);
    await connection.received(100_000);
    expect(programsAt(upstream.path)).not.toEqual([]);
    connection.vanish();
    const other = await bed.createUpstream();
    expect(await (await bed.person().clone(other.url)).git('rev-parse', 'HEAD')).toBe(await other.tip());
    await expect.poll(() => programsAt(upstream.path)).toEqual([]);
  });
});
