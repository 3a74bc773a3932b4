/** Bodies in one piece: memory is counted for what has come, and given back. */
import { expect, it } from 'vitest';
import type { Memory } from '../../src/git/memory.ts';
import { ByteReader, sourceOf } from '../../src/git/wire/byte-reader.ts';
import { BodyBytes } from '../../src/streams/body-bytes.ts';

const KiB = 1024;

it('a body grows with what comes, at first, and then to its length, and is freed', async () => {
  const claims: number[] = [];
  const set = (bytes: number) => void claims.push(bytes);
  const memory: Memory = {
    claim: () => ({ bytes: 0, set: async (bytes) => set(bytes), setNow: set }),
    isShort: false,
    worked: async () => {},
  };
  const chunk = new Uint8Array(50 * KiB).fill(7);
  const reader = new ByteReader(sourceOf(chunk, chunk, chunk, chunk));
  const body = await BodyBytes.of(reader, memory, 200 * KiB);
  expect([body.bytes.byteLength, body.bytes.every((byte) => byte === 7)]).toEqual([200 * KiB, true]);
  body.free();
  expect([body.bytes.byteLength, claims]).toEqual([0, [64 * KiB, 128 * KiB, 200 * KiB, 200 * KiB, 0]]);
});

it('a body without a byte is empty', async () => {
  const memory: Memory = {
    claim: () => ({ bytes: 0, set: async () => {}, setNow: () => {} }),
    isShort: false,
    worked: async () => {},
  };
  expect((await BodyBytes.of(new ByteReader(sourceOf()), memory, 10)).bytes).toEqual(new Uint8Array(0));
});

it('a body that comes slowly gives way to others who wait, although it needs no more', async () => {
  let asked = 0;
  const set = async () => {
    if (++asked === 3) throw new Error('others wait');
  };
  const memory: Memory = {
    claim: () => ({ bytes: 0, set, setNow: () => {} }),
    isShort: false,
    worked: async () => {},
  };
  const byte = Uint8Array.of(7);
  const reading = BodyBytes.of(new ByteReader(sourceOf(byte, byte, byte)), memory, 10 * KiB);
  await expect(reading).rejects.toThrow('others wait');
});
