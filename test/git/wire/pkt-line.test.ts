/** pkt-lines: known bytes, strict lengths, any chunking. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  encodePktLine,
  MAX_PKT_LINE_BYTES,
  MAX_PKT_PAYLOAD_BYTES,
  type Packet,
  pktLengthDigits,
  readPacket,
  takePayload,
} from '../../../src/git/wire/pkt-line.ts';
import { CHUNKINGS, randomPieces, readerOf, readerOfWhole, restOf } from '../../support/byte-chunks.ts';
import { runs } from '../../support/runs.ts';

const data = (text: string) => ({ kind: 'data', payload: new Uint8Array(Buffer.from(text)) });

describe('encodePktLine', () => {
  it.each([
    ['a\n', '0006a\n'],
    ['a', '0005a'],
    ['foobar\n', '000bfoobar\n'],
    ['', '0004'],
    ['é', '0006é'],
  ])('encodes %j as the examples of gitprotocol-common do', (payload, encoded) => {
    expect(Buffer.from(encodePktLine(payload)).toString()).toBe(encoded);
  });

  it('counts its own four digits up to 65,520 bytes, and no further', () => {
    const longest = encodePktLine(new Uint8Array(MAX_PKT_PAYLOAD_BYTES));
    expect(longest.byteLength).toBe(65_520);
    expect(Buffer.from(longest.subarray(0, 4)).toString()).toBe('fff0');
    expect(() => encodePktLine(new Uint8Array(MAX_PKT_PAYLOAD_BYTES + 1))).toThrow(RangeError);
    expect(() => pktLengthDigits(MAX_PKT_LINE_BYTES)).toThrow(RangeError);
  });
});

describe.each(CHUNKINGS)('readPacket from %s chunks', (_, cut) => {
  it('tells data, flush, delim, response-end and the empty pkt-line apart, and stops behind them', async () => {
    const reader = readerOf(cut(Buffer.from('0006a\n0000000100020004000Bfoobar\nPACK')));
    const packets: Packet[] = [];
    for (let i = 0; i < 6; i++) packets.push(await readPacket(reader));
    expect(packets).toEqual([
      data('a\n'),
      { kind: 'flush' },
      { kind: 'delim' },
      { kind: 'response-end' },
      data(''),
      data('foobar\n'),
    ]);
    expect((await restOf(reader)).toString()).toBe('PACK');
  });

  it('refuses a stream that ends inside a payload', async () => {
    await expect(readPacket(readerOf(cut(Buffer.from('000afive'))))).rejects.toMatchObject({
      code: 'bad-request',
    });
  });
});

describe('takePayload', () => {
  it('takes what has arrived, and leaves the rest as it is for readPacket', async () => {
    const lines = fc.array(fc.string({ maxLength: 20 }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(lines, fc.nat(999), async (texts, seed) => {
        const stream = Buffer.concat([...texts.map(encodePktLine), Buffer.from('0000PACK')]);
        const reader = readerOf(randomPieces(stream, seed));
        const payloads: string[] = [];
        for (;;) {
          const payload = takePayload(reader);
          const packet = payload === null ? await readPacket(reader) : { kind: 'data' as const, payload };
          if (packet.kind !== 'data') break;
          payloads.push(Buffer.from(packet.payload).toString());
        }
        expect(payloads).toEqual(texts.map((text) => Buffer.from(text).toString()));
        expect((await restOf(reader)).toString()).toBe('PACK');
      }),
      runs(70),
    );
  });

  it.each(['0003', 'fff1', '12xy'])('refuses %j as readPacket does', async (start) => {
    const reader = readerOfWhole(start);
    await reader.isAtEnd();
    expect(() => takePayload(reader)).toThrow('not in pkt-line format');
  });

  it.each(['0000', '0001', '0009ab'])('leaves %j to readPacket', async (start) => {
    const reader = readerOfWhole(start);
    await reader.isAtEnd();
    expect(takePayload(reader)).toBeNull();
    expect((await restOf(reader)).toString()).toBe(start);
  });
});

describe('readPacket', () => {
  it.each([
    ['', 'nothing at all'],
    ['0', 'half a length'],
    ['0003', 'a length that cannot hold its own digits'],
    ['fff1', 'one byte over the longest line'],
    ['ffff', 'the largest length'],
    ['12xy', 'digits that parseInt would take'],
    ['0x10', 'a prefix of hexadecimal'],
    [' 006', 'a space'],
    ['-001', 'a sign'],
    ['+006', 'a plus sign'],
    ['00\u00e9', 'bytes above ASCII'],
    ['00@6', 'the character before A'],
    ['00`6', 'the character before a'],
    ['00g6', 'the letter after f'],
    ['00G6', 'the letter after F'],
    ['PACK', 'a pack'],
    ['POST', 'an HTTP request'],
    ['\0\0\0\0', 'NUL bytes'],
  ])('refuses %j: %s', async (bytes) => {
    await expect(readPacket(readerOfWhole(bytes))).rejects.toMatchObject({
      name: 'ProtocolError',
      code: 'bad-request',
    });
  });

  it('allocates no more than the longest line for what a length promises', async () => {
    const longest = Buffer.concat([Buffer.from('fff0'), Buffer.alloc(MAX_PKT_PAYLOAD_BYTES, 'x')]);
    const packet = await readPacket(readerOfWhole(longest));
    expect(packet.kind === 'data' && packet.payload.byteLength).toBe(65_516);
  });

  it('reads back whatever encodePktLine wrote', async () => {
    const payloads = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(payloads, fc.nat(1000), async (lines, seed) => {
        const reader = readerOf(randomPieces(Buffer.concat(lines.map((line) => encodePktLine(line))), seed));
        for (const payload of lines) expect(await readPacket(reader)).toEqual({ kind: 'data', payload });
        expect(await reader.nextChunk()).toBeNull();
      }),
      runs(35),
    );
  });

  it('ends on any garbage, with an error or at its end, and never hangs', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        const reader = readerOf(randomPieces(bytes));
        for (let packets = 0; packets <= 50; packets++) {
          const ended = await readPacket(reader).then(
            () => false,
            (error: unknown) => {
              expect(error).toMatchObject({ code: 'bad-request' });
              return true;
            },
          );
          if (ended) return;
        }
        throw new Error('200 bytes hold at most 50 packets');
      }),
      runs(70),
    );
  });
});
