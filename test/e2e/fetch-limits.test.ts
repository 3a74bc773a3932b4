/** Fetches that are made to fill the memory: each is 413 at once, and costs little. */
import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Person } from './support/person.ts';
import { RawConnection } from './support/raw-http.ts';
import { useTestBed } from './support/test-bed.ts';
import type { Upstream } from './support/upstream.ts';
import { pkt, readPkts, send, type WireAnswer } from './support/wire.ts';

const MiB = 1024 * 1024;
const TYPE = { 'Content-Type': 'application/x-git-upload-pack-request' };
const V2 = { 'Git-Protocol': 'version=2' };

const bed = useTestBed();
let upstream: Upstream;
let person: Person;
let tip: string;

beforeAll(async () => {
  upstream = await bed.createUpstream();
  person = bed.person();
  tip = await upstream.tip();
  // What the first compressed request warms up does not count.
  expectPack(await ask(gzipSync(fetchOf(pkt('ofs-delta\n'))), { 'Content-Encoding': 'gzip' }));
});

const many = (line: Buffer, bytes: number): Buffer =>
  Buffer.alloc(Math.ceil(bytes / line.length) * line.length, line);

/** A clone in version 2 with such lines among its arguments. */
function fetchOf(...lines: readonly Buffer[]): Buffer {
  const head = [pkt('command=fetch\n'), Buffer.from('0001')];
  return Buffer.concat([...head, ...lines, pkt(`want ${tip}\n`), pkt('done\n'), pkt(null)]);
}

const ask = (body: Uint8Array, headers: Record<string, string>): Promise<WireAnswer> =>
  send(`${upstream.url}/git-upload-pack`, {
    method: 'POST',
    person,
    body,
    headers: { ...TYPE, ...V2, ...headers },
  });

function expectPack({ status, body }: WireAnswer): void {
  expect(status, body.toString('latin1', 0, 500)).toBe(200);
  expect(
    readPkts(body)
      .find((packet) => packet?.[0] === 1)
      ?.toString('latin1', 1, 5),
  ).toBe('PACK');
}

function expectTooLarge(answer: { status: number; body: Buffer } | null): void {
  const words = '{"error":"request body too large"}';
  expect([answer?.status, answer?.body.toString()]).toEqual([413, words]);
}

const ofService = (pattern: RegExp): number =>
  Number(pattern.exec(readFileSync(`/proc/${bed.service.workerdPid}/status`, 'utf8'))?.[1]);

/** By how many MiB the service grows at most meanwhile. */
async function growthDuring(work: () => Promise<unknown>): Promise<number> {
  writeFileSync(`/proc/${bed.service.workerdPid}/clear_refs`, '5');
  const before = ofService(/VmHWM:\s+(\d+) kB/);
  await work();
  return (ofService(/VmHWM:\s+(\d+) kB/) - before) / 1024;
}

describe('a fetch of lines without end', () => {
  it.each<[what: string, line: Buffer, bytes: number]>([
    ['depths', pkt('deepen 1\n'), 50 * MiB - 4096],
    ['lines that nobody knows', pkt('x'), 50 * MiB - 4096],
    ['names of refs', pkt(`want-ref refs/heads/${'x'.repeat(900)}\n`), 2 * MiB],
    ['wanted commits', pkt(`want ${'1'.repeat(40)}\n`), 17 * MiB],
  ])('%s: is 413, and costs little memory', async (_, line, bytes) => {
    const before = bed.host.requests.length;
    const body = gzipSync(fetchOf(many(line, bytes)));
    expect(body.length).toBeLessThan(MiB / 4);
    const growth = await growthDuring(async () =>
      expectTooLarge(await ask(body, { 'Content-Encoding': 'gzip' })),
    );
    expect(growth).toBeLessThan(64);
    expect(bed.host.requests.slice(before)).toEqual([]);
  });

  it.each([
    ['flushes', many(pkt(null), 8 * MiB)],
    ['wants', many(pkt(`want ${'1'.repeat(40)}\n`), 8 * MiB)],
    ['zeros', Buffer.concat([pkt(null), Buffer.alloc(8 * MiB)])],
  ])('that is not announced is 413 before its sender has ended: %s', async (_, piece) => {
    const connection = await RawConnection.open(bed.service.url);
    connection.sendHead(`/v1/gh/${upstream.fullName}/git-upload-pack`, person, {
      ...TYPE,
      'Transfer-Encoding': 'chunked',
    });
    for (let sent = 0; sent < 56 * MiB; sent += piece.length) connection.sendChunk(piece);
    // Not the last chunk.
    await connection.received(100);
    connection.sendChunk(Buffer.alloc(0));
    const answer = await connection.answer();
    connection.vanish();
    expectTooLarge(answer);
  });

  it('leaves no memory taken: also those that come together are answered, and the next one is served', async () => {
    const hostile = gzipSync(fetchOf(many(pkt(`want ${'1'.repeat(40)}\n`), 17 * MiB)));
    const sent = Array.from({ length: 4 }, () => ask(hostile, { 'Content-Encoding': 'gzip' }));
    for (const answer of await Promise.all(sent)) expectTooLarge(answer);
    expectPack(await ask(fetchOf(many(pkt(`want ${tip}\n`), 8 * MiB)), {}));
  });
});

it('a fetch of as many wants as fit is relayed, in a request of its own length', async () => {
  // As a partial clone may. The host has none of them, which is its own affair.
  const ids = Array.from({ length: 42_000 }, (_, index) => index.toString(16).padStart(40, '0'));
  const wants = Buffer.concat(ids.map((id) => pkt(`want ${id}\n`)));
  const before = bed.host.requests.length;
  await ask(gzipSync(fetchOf(pkt('filter blob:none\n'), wants)), { 'Content-Encoding': 'gzip' });
  const headers = bed.host.requests[before]?.headers ?? {};
  expect(Number(headers['content-length'])).toBeGreaterThan(2 * MiB);
});

it('a want that repeats for megabytes is relayed once', async () => {
  const before = bed.host.requests.length;
  expectPack(
    await ask(gzipSync(fetchOf(many(pkt(`want ${tip}\n`), 15 * MiB))), { 'Content-Encoding': 'gzip' }),
  );
  for (const { headers } of bed.host.requests.slice(before)) {
    expect(Number(headers['content-length'])).toBeLessThan(1024);
  }
});
