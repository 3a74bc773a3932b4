/** A delayed push is data: what is read from its bytes is the push, or an error. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeKept, encodeKept, type KeptPush } from '../../../src/push/delay/kept-push.ts';
import { comparable, decoded, keptPush, keptPushes, type RandomKept } from '../../support/random-kept.ts';
import { runs } from '../../support/runs.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const whole = ({ work, ...rest }: KeptPush) =>
  comparable({ ...rest, work: { ...work, commits: Array.from(work.commits, decoded) } });

/** Bytes with others before and behind them, as in a row that holds more. */
const amidOthers = (bytes: Uint8Array): Uint8Array =>
  new Uint8Array(Buffer.concat([Buffer.alloc(3, 1), bytes, Buffer.alloc(100, 1)])).subarray(
    3,
    3 + bytes.length,
  );

describe('a delayed push', () => {
  it('is the same once it was bytes', exhaustive, () => {
    fc.assert(
      fc.property(keptPushes, (kept) => {
        const bytes = encodeKept(keptPush(kept));
        expect(whole(decodeKept(bytes))).toEqual(comparable(kept));
        expect(whole(decodeKept(amidOthers(bytes)))).toEqual(comparable(kept));
        expect(Buffer.compare(encodeKept(decodeKept(bytes)), bytes)).toBe(0);
      }),
      runs(70),
    );
  });

  it('can be read when the bytes are gone', () => {
    const [kept] = fc.sample(keptPushes, 1) as [RandomKept];
    const bytes = encodeKept(keptPush(kept));
    const push = decodeKept(bytes);
    bytes.fill(0xff);
    expect(whole(push)).toEqual(comparable(kept));
  });

  it('of 1.0.0 has no commits by others that are known again', () => {
    const { others: _, ...kept } = keptPush(fc.sample(keptPushes, 1)[0] as RandomKept);
    expect(decodeKept(encodeKept(kept as KeptPush)).others).toEqual([]);
  });

  it('of another version is not read', () => {
    const bytes = encodeKept(keptPush(fc.sample(keptPushes, 1)[0] as RandomKept));
    for (const version of [0, 1, 255]) {
      expect(() => decodeKept(bytes.with(0, version))).toThrow(RangeError);
    }
    expect(() => decodeKept(new Uint8Array(0))).toThrow(RangeError);
  });

  it('that was cut anywhere, or goes on, is not read', () => {
    const small = keptPushes.filter((kept) => encodeKept(keptPush(kept)).length < 2_000);
    fc.assert(
      fc.property(small, (kept) => {
        const bytes = amidOthers(encodeKept(keptPush(kept)));
        for (let end = 0; end < bytes.length; end++) {
          expect(() => decodeKept(bytes.subarray(0, end)), `${end} bytes`).toThrow(RangeError);
        }
        expect(() => decodeKept(new Uint8Array([...bytes, 0]))).toThrow(RangeError);
      }),
      runs(10),
    );
  });
});
