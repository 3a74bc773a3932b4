/** Long and compressed requests of fetches: what goes on, what is 413, and what Git shows. */
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Person } from '../support/person.ts';
import { RawConnection } from '../support/raw-http.ts';
import { growthDuring } from '../support/resident-memory.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import type { Upstream } from '../support/upstream.ts';
import { send, type WireAnswer } from '../support/wire.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { pkt, readPkts } from '../../support/pkt-line.ts';

const MiB = 1024 * 1024;
const TYPE = { 'Content-Type': 'application/x-git-upload-pack-request' };
const V2 = { 'Git-Protocol': 'version=2' };
const GZIP = { 'Content-Encoding': 'gzip' };
/** Room for all that a request has besides many equal lines. */
const OTHER_BYTES = 4096;
const bed = useOwnTestBed();
let upstream: Upstream;
let person: Person;
let tip: string;

beforeAll(async () => {
  upstream = await bed.createUpstream();
  person = bed.person();
  tip = await upstream.tip();
});

const many = (line: Buffer, bytes: number): Buffer =>
  Buffer.alloc(Math.floor(bytes / line.length) * line.length, line);

const wants = (bytes: number): Buffer => many(pkt(`want ${tip}\n`), bytes);

/** A clone in version 2 with such lines among its arguments. */
function fetchOf(...lines: readonly Buffer[]): Buffer {
  const head = [pkt('command=fetch\n'), Buffer.from('0001')];
  return Buffer.concat([...head, ...lines, pkt(`want ${tip}\n`), pkt('done\n'), pkt(null)]);
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

/** Whether the first long request is done. Memory that it warms up does not count. */
let isWarm = false;

/** By how many MiB the service grows at most meanwhile. */
async function serviceGrowth(work: () => Promise<unknown>): Promise<number> {
  if (!isWarm) expectPack(await ask(fetchOf(wants(50 * MiB - OTHER_BYTES)), {}));
  isWarm = true;
  return growthDuring(bed.service.workerdPid, work);
}

describe('a request of nearly 50 MB', exhaustive, () => {
  it('is relayed with each commit once that the client has', async () => {
    const body = fetchOf(many(pkt(`have ${tip}\n`), 50 * MiB - OTHER_BYTES));
    const before = bed.host.requests.length;
    const grown = await serviceGrowth(async () => expectPack(await ask(body, {})));
    expect(grown).toBeLessThan(48);
    // The last one; those before it list upstream's history.
    const relayed = bed.host.requests.slice(before).at(-1);
    expect(Number(relayed?.headers['content-length'])).toBe(relayed?.body.length);
    expect(relayed?.body.toString().split(tip).length).toBeLessThanOrEqual(3);
    expect(relayed?.body.length).toBeLessThan(OTHER_BYTES);
  });

  it('of lines that nobody knows is told so, and the host hears nothing', async () => {
    const before = bed.host.requests.length;
    const grown = await serviceGrowth(async () =>
      expectTold(await ask(fetchOf(many(pkt('x'), 50 * MiB - OTHER_BYTES)), {}), TOO_MANY_LINES),
    );
    expect(grown).toBeLessThan(48);
    expect(bed.host.requests.slice(before)).toEqual([]);
  });

  it('is served beside others, which take their turns', async () => {
    const long = fetchOf(wants(5 * MiB));
    const sent = Array.from({ length: 3 }, () => ask(long, {}));
    for (const answer of await Promise.all(sent)) expectPack(answer);
  });
});

it('a long request gets the answer of a host that does not read it', async () => {
  const others = Array.from({ length: 32_000 }, (_, at) =>
    pkt(`want ${at.toString(16).padStart(40, '0')}\n`),
  );
  const body = fetchOf(...others);
  bed.sandbox.faults.inject({ path: /git-upload-pack$/, answer: { status: 503, body: 'busy\n' } });
  const answer = await ask(body, {});
  expect([answer.status, answer.body.toString()]).toEqual([503, 'busy\n']);
  expectPack(await ask(fetchOf(), {}));
});

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
    ['one want, over 50 MB', () => fetchOf(wants(50 * MiB))],
    ['zeros behind its end', () => Buffer.concat([fetchOf(), Buffer.alloc(5 * MiB)])],
  ])('that inflates to more is 413, and the host hears nothing: %s', exhaustive, async (_, body) => {
    const before = bed.host.requests.length;
    const sent = gzipSync(body());
    expect(sent.length).toBeLessThan(MiB / 4);
    const grown = await serviceGrowth(async () => expectTooLarge(await ask(sent, GZIP)));
    expect(grown).toBeLessThan(48);
    expect(bed.host.requests.slice(before)).toEqual([]);
  });

  it('that is cut cannot be read', async () => {
    const { status, body } = await ask(gzipSync(fetchOf()).subarray(0, -9), GZIP);
    expect([status, body.toString()]).toEqual([400, '{"error":"failed to read body"}']);
  });
});

describe('a request of more than 50 MB', () => {
  it('that is not announced is 413 before its sender has ended', async () => {
    const piece = wants(8 * MiB);
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
      const hostile = gzipSync(fetchOf(wants(51 * MiB)), { level: 1 });
      // One waits for the other: of more, the last might wait for ten seconds on a busy machine,
      // and be told so.
      const sent = Array.from({ length: 2 }, () => ask(hostile, GZIP));
      for (const answer of await Promise.all(sent)) expectTooLarge(answer);
      expectPack(await ask(fetchOf(wants(8 * MiB)), {}));
    },
  );
});
