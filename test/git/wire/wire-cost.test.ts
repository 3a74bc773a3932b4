/**
 * The most that reading a request or a list of refs costs: in proportion to what has arrived,
 * whatever kind of line it is full of.
 */
import { describe, expect, it } from 'vitest';
import { UNCOUNTED } from '../../../src/git/memory.ts';
import { OidBeginnings } from '../../../src/git/objects/oid-beginnings.ts';
import { type UpstreamIds, readFetchRequest } from '../../../src/git/wire/fetch-request.ts';
import {
  MAX_REFS,
  readAdvertised,
  readAdvertisedIds,
  readLsRefs,
} from '../../../src/git/wire/protocol-v2.ts';
import { readPushRequest } from '../../../src/git/wire/push-request.ts';
import { planCommands } from '../../../src/push/receive/receive.ts';
import { ByteReader } from '../../../src/git/wire/byte-reader.ts';
import { piecesOf, readerOf } from '../../support/byte-chunks.ts';
import { CountedMemory } from '../../support/counted-memory.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { FLUSH, pktText } from '../../support/pkt-line.ts';
import { workOf } from '../../support/work-meter.ts';

const A = 'a'.repeat(40);
const B = 'b'.repeat(40);
const CHUNK_BYTES = 64 * 1024;
/** Patterns and decodings for each line, and besides. */
const LOOKS_OF_A_LINE = 12;
const FREE_LOOKS = 1_000;
const MOST_DECODED = 4;
const FREE_BYTES = 300_000;

const NOBODY: UpstreamIds = { someOf: async () => [], hasAll: async () => true };

/** Behind the first command. */
const PUSHED = [
  pktText(`${A} ${B} refs/heads/a`),
  pktText(`${A} ${B} refs/heads/\xff`),
  pktText(`${A} ${B} a`),
  pktText(`shallow ${A}`),
  pktText('title=a'),
  pktText('a-'),
  pktText(' '),
  pktText(''),
];
/** Lines of every kind that is passed on, looked up, kept or counted. */
const ASKED = [
  `want ${A}`,
  `have ${A}`,
  `shallow ${A}`,
  'deepen 1',
  'deepen-since 1',
  'deepen-not a',
  'filter combine:blob:none+tree:0',
  'ref-prefix refs/heads/a',
  'want-ref refs/heads/a',
  'done',
  'x',
].map((line) => pktText(`${line}\n`));

const filled = (line: string, bytes: number): string => line.repeat(Math.ceil(bytes / line.length));

async function expectLinear(sent: string, lines: number, read: (bytes: Buffer) => unknown): Promise<void> {
  const bytes = Buffer.from(sent, 'latin1');
  // What refuses it has read less.
  const { looks, bytes: decoded } = await workOf(async () => Promise.resolve(read(bytes)).catch(() => {}));
  expect(looks, 'looks').toBeLessThan(FREE_LOOKS + LOOKS_OF_A_LINE * lines);
  expect(decoded, 'bytes').toBeLessThan(FREE_BYTES + MOST_DECODED * bytes.length);
}

const reader = (bytes: Buffer) => readerOf(piecesOf(bytes, CHUNK_BYTES));

function describeRequestsOf(size: number): void {
  it.each(PUSHED)('of a push is read once if it is full of %j', (line) => {
    const head = pktText(`${A} ${B} refs/heads/main\0 report-status push-options`);
    const sent = `${head}${filled(line, size)}${FLUSH}${filled(line, size)}${FLUSH}`;
    return expectLinear(sent, (2 * size) / line.length, async (bytes) => {
      const request = await readPushRequest(reader(bytes), UNCOUNTED);
      if (request.kind === 'push') planCommands(request.commandList);
    });
  });

  it.each(ASKED)('of a fetch is read once if it is full of %j', async (line) => {
    for (const command of ['fetch', 'ls-refs']) {
      const sent = `${pktText(`command=${command}\n`)}0001${filled(line, size)}${FLUSH}`;
      await expectLinear(sent, size / line.length, (bytes) =>
        readFetchRequest(reader(bytes), 2, NOBODY, UNCOUNTED),
      );
    }
    const old = `${pktText(`want ${A} ofs-delta\n`)}${filled(line, size)}${FLUSH}${filled(line, size)}`;
    await expectLinear(old, (2 * size) / line.length, (bytes) =>
      readFetchRequest(reader(bytes), 0, NOBODY, UNCOUNTED),
    );
  });
}

describe('a request of 10,000 bytes', () => describeRequestsOf(10_000));
describe('a request of 100,000 bytes', () => describeRequestsOf(100_000));
describe('a request of a megabyte', exhaustive, () => describeRequestsOf(1_000_000));

/** A list of refs whose names have so many bytes. */
function* refLines(count: number, nameBytes: number): Generator<Uint8Array> {
  const perChunk = 200;
  for (let first = 0; first < count; first += perChunk) {
    const lines = Array.from({ length: Math.min(perChunk, count - first) }, (_, at) => {
      const name = `refs/heads/${String(first + at).padStart(nameBytes - 'refs/heads/'.length, '0')}`;
      return pktText(`${String(first + at).padStart(40, '0')} ${name}\n`);
    });
    yield Buffer.from(lines.join(''), 'latin1');
  }
  yield Buffer.from(FLUSH);
}

function describeRefs(count: number): void {
  const list = () => {
    const lines = refLines(count, 250);
    let sentBytes = 0;
    const source = {
      read: async () => {
        const { value } = lines.next();
        sentBytes += value?.byteLength ?? 0;
        return value ?? null;
      },
      cancel: async () => void lines.return(undefined),
    };
    return { source, sent: () => sentBytes };
  };

  it('are kept as far as anybody needs, and the rest of the list is not read', async () => {
    const { source, sent } = list();
    const memory = new CountedMemory();
    const { refs, hasAllBranches } = await readLsRefs(new ByteReader(source), memory);
    expect(refs.length).toBeLessThanOrEqual(MAX_REFS);
    expect(hasAllBranches).toBe(refs.length === count);
    expect(memory.mostBytes).toBeLessThan(20_000_000);
    expect(sent()).toBeLessThan(300 * (MAX_REFS + 1_000));
  });

  it('cost eight bytes each where only their ids count', async () => {
    const memory = new CountedMemory();
    const ids = new OidBeginnings();
    const { looks, bytes } = await workOf(() =>
      readAdvertisedIds(new ByteReader(list().source), ids, memory),
    );
    expect(ids.byteLength).toBe(8 * count);
    expect(memory.mostBytes).toBeLessThan(16 * count + 1_000_000);
    expect([looks, bytes < 50 * count]).toEqual([expect.any(Number), true]);
    expect(looks).toBeLessThan(2 * count);
  });

  it('are looked through once for an id, and nothing is kept', async () => {
    const last = String(count - 1).padStart(40, '0');
    const { looks } = await workOf(async () => {
      const found = await readAdvertised(new ByteReader(list().source), new Set([last]));
      expect([...found.keys()]).toEqual([last]);
    });
    expect(looks).toBeLessThan(2 * count);
  });
}

describe('2,600 refs with names of 250 bytes', () => describeRefs(2_600));
describe('26,000 refs with names of 250 bytes', () => describeRefs(26_000));
describe('260,000 refs with names of 250 bytes', exhaustive, () => describeRefs(260_000));
