/** Long and compressed requests of fetches: what goes on, what is 413, and what Git shows. */
import { readFileSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { deflateSync, gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { piecesOf } from '../../support/byte-chunks.ts';
import type { Person } from '../support/person.ts';
import { RawConnection } from '../support/raw-http.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import type { Upstream } from '../support/upstream.ts';
import { pkt, readPkts, send, type WireAnswer } from '../support/wire.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const MiB = 1024 * 1024;
const TYPE = { 'Content-Type': 'application/x-git-upload-pack-request' };
const V2 = { 'Git-Protocol': 'version=2' };
const GZIP = { 'Content-Encoding': 'gzip' };
/** What a request has besides many equal lines. */
const OTHER_BYTES = 4096;
const bed = useOwnTestBed();
let upstream: Upstream;
let person: Person;
let tip: string;

beforeAll(async () => {
  upstream = await bed.createUpstream();
  person = bed.person();
  tip = await upstream.tip();
  // What the first long request warms up does not count.
  expectPack(await ask(fetchOf(many(pkt(`want ${tip}\n`), 50 * MiB - OTHER_BYTES)), {}));
});

const many = (line: Buffer, bytes: number): Buffer =>
  Buffer.alloc(Math.floor(bytes / line.length) * line.length, line);

/** A clone in version 2 with such lines among its arguments. */
function fetchOf(...lines: readonly Buffer[]): Buffer {
  const head = [pkt('command=fetch\n'), Buffer.from('0001')];
  return Buffer.concat([...head, ...lines, pkt(`want ${tip}\n`), pkt('done\n'), pkt(null)]);
}

const listOf = (...lines: readonly Buffer[]): Buffer =>
  Buffer.concat([pkt('command=ls-refs\n'), Buffer.from('0001'), ...lines, pkt(null)]);

function cutInTen(body: Buffer): Buffer[] {
  const size = Math.ceil(body.length / 10);
  return Array.from({ length: 10 }, (_, at) => body.subarray(at * size, (at + 1) * size));
}

const ask = (
  body: Uint8Array | readonly Uint8Array[],
  headers: Record<string, string>,
): Promise<WireAnswer> =>
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

const TOO_MANY_LINES = 'The fetch has more than 1000 lines that name nothing. Is your Git client up to date?';

/** In the error packet that Git shows. */
function expectTold({ status, body }: WireAnswer, words: string): void {
  expect([status, readPkts(body).map(String)]).toEqual([200, [`ERR ${words}\n`]]);
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

describe('a request of nearly 50 MB', exhaustive, () => {
  it.each<[what: string, line: () => Buffer]>([
    ['commits that the client has', () => pkt(`have ${tip}\n`)],
    ['commits that it wants', () => pkt(`want ${tip}\n`)],
  ])('is relayed with each of them once: %s', async (_, line) => {
    const body = fetchOf(many(line(), 50 * MiB - OTHER_BYTES));
    const before = bed.host.requests.length;
    const grown = await growthDuring(async () => expectPack(await ask(body, {})));
    expect(grown).toBeLessThan(48);
    // The last one; those before it list upstream's history.
    const relayed = bed.host.requests.slice(before).at(-1);
    expect(Number(relayed?.headers['content-length'])).toBe(relayed?.body.length);
    expect(relayed?.body.toString().split(tip).length).toBeLessThanOrEqual(3);
    expect(relayed?.body.length).toBeLessThan(OTHER_BYTES);
  });

  it.each<[what: string, line: Buffer]>([
    ['lines that nobody knows', pkt('x')],
    ['empty lines', pkt('')],
    ['depths', pkt('deepen 1\n')],
  ])('is told so, and the host hears nothing: %s', async (_, line) => {
    const before = bed.host.requests.length;
    const grown = await growthDuring(async () =>
      expectTold(await ask(fetchOf(many(line, 50 * MiB - OTHER_BYTES)), {}), TOO_MANY_LINES),
    );
    expect(grown).toBeLessThan(48);
    expect(bed.host.requests.slice(before)).toEqual([]);
  });

  it('is served beside others, which take their turns', async () => {
    const long = fetchOf(many(pkt(`want ${tip}\n`), 5 * MiB));
    const sent = Array.from({ length: 3 }, () => ask(long, {}));
    for (const answer of await Promise.all(sent)) expectPack(answer);
  });
});

it('a long request gets the answer of a host that does not read it', async () => {
  const wants = Array.from({ length: 32_000 }, (_, at) => pkt(`want ${at.toString(16).padStart(40, '0')}\n`));
  const body = fetchOf(...wants);
  bed.sandbox.faults.inject({ path: /git-upload-pack$/, answer: { status: 503, body: 'busy\n' } });
  const answer = await ask(body, {});
  expect([answer.status, answer.body.toString()]).toEqual([503, 'busy\n']);
  expectPack(await ask(fetchOf(), {}));
});

const wants = (bytes: number) => many(pkt(`want ${tip}\n`), bytes);

describe('a compressed request', () => {
  it('may inflate to a mebibyte, and to eight times what has arrived', async () => {
    expectPack(await ask(gzipSync(fetchOf(wants(MiB - OTHER_BYTES))), GZIP));
    // Of such a line, 23 bytes arrive: it pays for more lines than itself.
    const others = Array.from({ length: 20_000 }, (_, at) =>
      pkt(`have ${createHash('sha1').update(String(at)).digest('hex')}\n`),
    );
    const paid = Buffer.concat(others);
    const body = fetchOf(paid, wants(2 * MiB));
    expect(body.length).toBeGreaterThan(6 * gzipSync(body).length);
    expectPack(await ask(gzipSync(body), GZIP));
  });

  it.each<[what: string, body: () => Buffer]>([
    ['one want', () => fetchOf(wants(50 * MiB - OTHER_BYTES))],
    ['one want, over 50 MB', () => fetchOf(wants(50 * MiB))],
    ['commits that the client has', () => fetchOf(many(pkt(`have ${tip}\n`), 5 * MiB))],
    ['prefixes', () => listOf(many(pkt('ref-prefix refs/heads/\n'), 5 * MiB))],
    ['zeros behind its end', () => Buffer.concat([fetchOf(), Buffer.alloc(5 * MiB)])],
  ])('that inflates to more is 413, and the host hears nothing: %s', async (_, body) => {
    const before = bed.host.requests.length;
    const sent = gzipSync(body());
    expect(sent.length).toBeLessThan(MiB / 4);
    const grown = await growthDuring(async () => expectTooLarge(await ask(sent, GZIP)));
    expect(grown).toBeLessThan(48);
    expect(bed.host.requests.slice(before)).toEqual([]);
  });

  it.each<[what: string, encode: (body: Buffer) => readonly Uint8Array[]]>([
    ['byte by byte', (body) => piecesOf(gzipSync(body), 1)],
    ['in ten members', (body) => cutInTen(body).map((part) => gzipSync(part))],
  ])('is taken, or is 413, however it comes: %s', async (_, encode) => {
    expectPack(await ask(encode(fetchOf(wants(MiB / 2))), GZIP));
    expectTooLarge(await ask(encode(fetchOf(wants(3 * MiB))), GZIP));
  });

  it('of meaningless lines is told so after a thousand', async () => {
    const before = bed.host.requests.length;
    for (const body of [fetchOf, listOf]) {
      const sent = gzipSync(body(many(pkt('x'), 40 * MiB)));
      expect(sent.length).toBeLessThan(64 * 1024);
      expectTold(await ask(sent, GZIP), TOO_MANY_LINES);
    }
    expect(bed.host.requests.slice(before)).toEqual([]);
  });

  it.each<[what: string, encode: (body: Buffer) => Buffer]>([
    ['cut', (body) => gzipSync(body).subarray(0, -9)],
    ['of a wrong length', (body) => Buffer.concat([gzipSync(body).subarray(0, -1), Buffer.from([7])])],
    ['within another', (body) => gzipSync(gzipSync(body))],
    ['deflated', (body) => deflateSync(body)],
  ])('that is %s cannot be read', async (_, encode) => {
    const { status, body } = await ask(encode(fetchOf()), GZIP);
    expect([status, body.toString()]).toEqual([400, '{"error":"failed to read body"}']);
  });

  it.each(['deflate', 'identity, identity', 'gzip, gzip'])('in the encoding %s is none', async (encoding) => {
    expect((await ask(fetchOf(), { 'Content-Encoding': encoding })).status).toBe(415);
  });
});

describe('a request of more than 50 MB', () => {
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

  it(
    'leaves no memory taken: also those that come together are answered, and the next one is served',
    exhaustive,
    async () => {
      const hostile = gzipSync(fetchOf(many(pkt(`want ${tip}\n`), 51 * MiB)), { level: 1 });
      // One waits for the other: of more, the last might wait for ten seconds on a busy machine, and be told so.
      const sent = Array.from({ length: 2 }, () => ask(hostile, GZIP));
      for (const answer of await Promise.all(sent)) expectTooLarge(answer);
      expectPack(await ask(fetchOf(many(pkt(`want ${tip}\n`), 8 * MiB)), {}));
    },
  );
});
