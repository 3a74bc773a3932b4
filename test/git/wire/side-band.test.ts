/** side-band-64k: how data is cut into packets, and how the host's packets are read. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  BAND_DATA,
  BAND_ERROR,
  BAND_PROGRESS,
  type Band,
  encodeBand,
  readBands,
} from '../../../src/git/wire/side-band.ts';
import { CHUNKINGS, randomPieces, readerOf, readerOfWhole, restOf } from '../../support/byte-chunks.ts';
import type { ByteReader } from '../../../src/git/wire/byte-reader.ts';
import { runs } from '../../support/runs.ts';

async function bandsOf(reader: ByteReader) {
  const packets: { band: Band; data: Uint8Array }[] = [];
  for await (const packet of readBands(reader)) packets.push(packet);
  return packets;
}

describe('encodeBand', () => {
  it.each([
    [BAND_DATA, 'hello', '000a\u0001hello'],
    [BAND_PROGRESS, 'working\n', '000d\u0002working\n'],
    [BAND_ERROR, 'no\n', '0008\u0003no\n'],
  ] as const)('puts band %s in front of %j', (band, text, encoded) => {
    expect(Buffer.from(encodeBand(band, text)).toString()).toBe(encoded);
  });

  it('writes no packet for no data: it would be an empty one', () => {
    expect(encodeBand(BAND_DATA, '').byteLength).toBe(0);
  });

  it('fills packets of 65,520 bytes, of which 65,515 are data', () => {
    const encoded = Buffer.from(encodeBand(BAND_DATA, new Uint8Array(65_515 + 1)));
    expect(encoded.toString('latin1', 0, 5)).toBe('fff0\u0001');
    expect(encoded.toString('latin1', 65_520, 65_525)).toBe('0006\u0001');
    expect(encoded.length).toBe(65_520 + 6);
  });

  it('loses nothing of data of any length', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(200_000), async (length) => {
        const sent = new Uint8Array(length).map((_, index) => index % 251);
        const stream = Buffer.concat([encodeBand(BAND_DATA, sent), Buffer.from('0000')]);
        const packets = await bandsOf(readerOfWhole(stream));
        expect(Buffer.concat(packets.map((packet) => packet.data)).equals(sent)).toBe(true);
      }),
      runs(20),
    );
  });
});

describe.each(CHUNKINGS)('readBands from %s chunks', (_, cut) => {
  it('gives the packets in their order and stops behind the flush', async () => {
    const stream = Buffer.from('0008\u0001abc0009\u0002soon0005\u00010006\u0003x0000rest', 'latin1');
    const reader = readerOf(cut(stream));
    const packets = await bandsOf(reader);
    expect(packets.map(({ band, data }) => [band, Buffer.from(data).toString()])).toEqual([
      [1, 'abc'],
      [2, 'soon'],
      [1, ''],
      [3, 'x'],
    ]);
    expect((await restOf(reader)).toString()).toBe('rest');
  });
});

describe('readBands', () => {
  it.each([
    ['0004', 'a packet without a band'],
    ['0006\u0000a', 'band 0'],
    ['0006\u0004a', 'band 4'],
    ['0006aa', 'text without a band'],
    ['0001', 'a delimiter'],
    ['0002', 'a response end'],
    ['0008\u0001a', 'a packet cut short'],
    ['', 'nothing: the flush is missing'],
    ['zzzz', 'no pkt-line'],
  ])('refuses %j: %s', async (bytes) => {
    await expect(bandsOf(readerOfWhole(bytes))).rejects.toMatchObject({ code: 'bad-request' });
  });

  it('reads what encodeBand wrote, in any pieces', async () => {
    const packet = fc.record({
      band: fc.constantFrom(BAND_DATA, BAND_PROGRESS, BAND_ERROR),
      data: fc.uint8Array({ minLength: 1, maxLength: 100 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(packet, { maxLength: 10 }), fc.nat(99), async (packets, seed) => {
        const stream = Buffer.concat([
          ...packets.map(({ band, data }) => encodeBand(band, data)),
          Buffer.from('0000'),
        ]);
        expect(await bandsOf(readerOf(randomPieces(stream, seed)))).toEqual(packets);
      }),
      runs(35),
    );
  });
});
