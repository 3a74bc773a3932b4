/** Long requests of fetches: up to 50 MB they go on as they come, and take little memory; beyond, they are 413 at once. */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
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
/** One that nobody knows. Where its length alone counts: ten million short ones take seconds. */
const LONG_LINE = pkt('x'.repeat(996));

const bed = useOwnTestBed();
let upstream: Upstream;
let person: Person;
let tip: string;

beforeAll(async () => {
  upstream = await bed.createUpstream();
  person = bed.person();
  tip = await upstream.tip();
  // What the first long request warms up does not count.
  expectPack(await ask(gzipSync(fetchOf(many(pkt('x'), 50 * MiB - OTHER_BYTES))), GZIP));
});

const many = (line: Buffer, bytes: number): Buffer =>
  Buffer.alloc(Math.floor(bytes / line.length) * line.length, line);

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

describe('a request of nearly 50 MB', exhaustive, () => {
  // How it comes and what it says are independent: each way twice is enough.
  it.each<[what: string, line: () => Buffer, isZipped: boolean]>([
    ['commits that the client has', () => pkt(`have ${tip}\n`), false],
    ['lines that nobody knows, with gzip', () => pkt('x'), true],
    ['empty lines', () => pkt(''), false],
  ])('is relayed without what the host does not need: %s', async (_, line, isZipped) => {
    const body = fetchOf(many(line(), 50 * MiB - OTHER_BYTES));
    const [sent, headers] = isZipped ? [gzipSync(body, { level: 1 }), GZIP] : [body, {}];
    const before = bed.host.requests.length;
    const grown = await growthDuring(async () => expectPack(await ask(sent, headers)));
    expect(grown).toBeLessThan(48);
    // The last one; those before it list upstream's history.
    const relayed = bed.host.requests.slice(before).at(-1);
    expect(Number(relayed?.headers['content-length'])).toBe(relayed?.body.length);
    expect(relayed?.body.length).toBeLessThan(2 * OTHER_BYTES);
  });

  it('is served beside others, which take their turns', async () => {
    // Each needs the isolate's large slot. None may wait ten seconds for those before it, however busy the machine is.
    const long = gzipSync(fetchOf(many(pkt(`want ${tip}\n`), 5 * MiB)));
    const sent = Array.from({ length: 3 }, () => ask(long, GZIP));
    for (const answer of await Promise.all(sent)) expectPack(answer);
  });
});

it('a long request of wanted commits is relayed in one piece, and takes no memory while its answer is read slowly', async () => {
  const large = await bed.createUpstream();
  await large.git('config', 'core.compression', '0');
  await large.grow({ files: { 'large.bin': randomBytes(20 * MiB) } });
  const line = pkt(`want ${await large.tip()}\n`);
  const head = Buffer.concat([pkt('command=fetch\n'), Buffer.from('0001')]);
  const body = gzipSync(Buffer.concat([head, many(line, 50 * MiB - OTHER_BYTES), pkt('done\n'), pkt(null)]), {
    level: 1,
  });
  const connections: RawConnection[] = [];
  const grown = await growthDuring(async () => {
    // Two that were kept would be more than the growth below.
    for (let count = 0; count < 3; count++) {
      const connection = await RawConnection.open(bed.service.url);
      connections.push(connection);
      const length = { 'Content-Length': String(body.length) };
      connection.sendHead(`/v1/gh/${large.fullName}/git-upload-pack`, person, {
        ...TYPE,
        ...V2,
        ...GZIP,
        ...length,
      });
      connection.send(body);
      await connection.received(10_000);
      connection.stopReading();
    }
  });
  for (const connection of connections) connection.vanish();
  expect(grown).toBeLessThan(96);
  const relayed = bed.host.requestsFor(large, 'POST', /git-upload-pack$/).at(-1);
  expect(Number(relayed?.headers['content-length'])).toBe(relayed?.body.length);
  expect(relayed?.body.length).toBeGreaterThan(50 * MiB - 2 * OTHER_BYTES);
});

it('a long request gets the answer of a host that does not read it', exhaustive, async () => {
  const body = fetchOf(many(pkt(`want ${tip}\n`), 8 * MiB));
  bed.sandbox.faults.inject({ path: /git-upload-pack$/, answer: { status: 503, body: 'busy\n' } });
  const answer = await ask(gzipSync(body, { level: 1 }), GZIP);
  expect([answer.status, answer.body.toString()]).toEqual([503, 'busy\n']);
  expectPack(await ask(fetchOf(), {}));
});

describe('a request of more than 50 MB', () => {
  it.each([
    ['wanted commits', () => pkt(`want ${tip}\n`), 96],
    ['lines that nobody knows', () => pkt('x'), 48],
  ])('is 413 also when it is compressed to kilobytes: %s', exhaustive, async (_, line, growth) => {
    const before = bed.host.requests.length;
    const body = gzipSync(fetchOf(many(line(), 50 * MiB)));
    expect(body.length).toBeLessThan(MiB / 4);
    const grown = await growthDuring(async () => expectTooLarge(await ask(body, GZIP)));
    expect(grown).toBeLessThan(growth);
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

  it(
    'leaves no memory taken: also those that come together are answered, and the next one is served',
    exhaustive,
    async () => {
      const hostile = gzipSync(fetchOf(many(LONG_LINE, 51 * MiB)), { level: 1 });
      // One waits for the other: of more, the last might wait for ten seconds on a busy machine, and be told so.
      const sent = Array.from({ length: 2 }, () => ask(hostile, GZIP));
      for (const answer of await Promise.all(sent)) expectTooLarge(answer);
      expectPack(await ask(fetchOf(many(pkt(`want ${tip}\n`), 8 * MiB)), {}));
    },
  );
});
