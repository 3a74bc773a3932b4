/** Clients that stop reading an answer: the code host's connections are let go, and others are served. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { RawConnection } from '../support/raw-http.ts';
import { expectStillServing, makeSoundPush } from '../support/sound-push.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import type { Upstream } from '../support/upstream.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { pkt } from '../../support/pkt-line.ts';

/** More than the connections on the way take. */
const LONG_BYTES = 16 * 1024 * 1024;
const ESTABLISHED = '01';
const UPLOAD_PACK = 'application/x-git-upload-pack-request';

const bed = useOwnTestBed({ env: { WRITE_TIMEOUT: '200ms' } });
let upstream: Upstream;

beforeAll(async () => {
  upstream = await bed.createUpstream();
  await upstream.grow({ files: { 'large.bin': randomBytes(LONG_BYTES) } });
});

/** How many connections lead from here to this address, and are open. */
function openConnections(url: string): number {
  const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, '0');
  const rows = readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1);
  return rows.filter((row) => {
    const [, local = '', , state] = row.trim().split(/\s+/);
    return local.endsWith(`:${port}`) && state === ESTABLISHED;
  }).length;
}

/** Sends a request, or several at once, and reads nothing of the answers. */
async function askAndStopReading(method: string, path: string, body = '', times = 1): Promise<RawConnection> {
  const connection = await RawConnection.open(bed.service.url);
  connection.stopReading();
  const headers = body === '' ? {} : { 'Content-Type': UPLOAD_PACK, 'Content-Length': String(body.length) };
  for (let left = times; left > 0; left--) {
    connection.sendHead(path, bed.person(), headers, method);
    connection.send(body);
  }
  return connection;
}

async function expectHostLetGo(...request: Parameters<typeof askAndStopReading>): Promise<void> {
  const asked = bed.host.requests.length;
  const stalled = await askAndStopReading(...request);
  // A connection may be over before anybody has looked: what has come by it stays.
  await expect.poll(() => bed.host.requests.length).toBeGreaterThan(asked);
  await expect.poll(() => openConnections(bed.sandbox.url)).toBe(0);
  stalled.vanish();
}

describe('a client that stops reading a clone lets go of the code host', exhaustive, () => {
  it('while it is told the refs', async () => {
    const body = Buffer.alloc(LONG_BYTES, pkt(`${'1'.repeat(40)} refs/heads/a\n`)).toString();
    bed.sandbox.faults.inject({ method: 'GET', path: /info\/refs$/, answer: { status: 200, body } });
    const path = `/v1/gh/${upstream.fullName}/info/refs?service=git-upload-pack`;
    await expectHostLetGo('GET', path);
  });

  it('while it is sent the pack', async () => {
    const lines = [pkt(`want ${await upstream.tip()} side-band-64k\n`), pkt(null), pkt('done\n')];
    const path = `/v1/gh/${upstream.fullName}/git-upload-pack`;
    await expectHostLetGo('POST', path, Buffer.concat(lines).toString());
  });
});

it(
  'clients that stop reading refs, pages and JSON keep nobody else from being served',
  exhaustive,
  async () => {
    const crowded = await bed.createUpstream();
    const tip = await crowded.tip();
    const refs = Array.from(
      { length: 4_000 },
      (_, index) => `${tip} refs/heads/${'x'.repeat(200)}${index}\n`,
    );
    await writeFile(join(crowded.path, 'packed-refs'), `# pack-refs with: peeled\n${refs.join('')}`);
    const ofPush = `/v1/gh/${crowded.fullName}/info/refs?service=git-receive-pack`;
    const stalled = await Promise.all([
      ...Array.from({ length: 5 }, () => askAndStopReading('GET', ofPush, '', 10)),
      ...['/docs', '/openapi.json', '/api/status'].map((path) => askAndStopReading('GET', path, '', 100)),
    ]);
    await expectStillServing(bed, await makeSoundPush(bed));
    for (const connection of stalled) connection.vanish();
  },
);
