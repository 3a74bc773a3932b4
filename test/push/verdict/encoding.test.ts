/** A publishable push is data: what is read from its bytes is the push, or an error. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse, serialise } from '../../../src/push/verdict/encoding.ts';
import type { Publishable } from '../../../src/push/verdict/verdict.ts';
import { comparable, publishable, type RandomVerdict, verdicts } from '../../support/random-verdict.ts';
import { runs } from '../../support/runs.ts';

const whole = (push: Publishable) => comparable({ ...push, commits: [...push.commits] });

/** Bytes with others before and behind them, as in a row that holds more. */
const amidOthers = (bytes: Uint8Array): Uint8Array =>
  new Uint8Array(Buffer.concat([Buffer.alloc(3, 1), bytes, Buffer.alloc(100, 1)])).subarray(
    3,
    3 + bytes.length,
  );

describe('a publishable push', () => {
  it('is the same once it was bytes', () => {
    fc.assert(
      fc.property(verdicts, (verdict) => {
        const bytes = serialise(publishable(verdict));
        expect(whole(parse(bytes))).toEqual(comparable(verdict));
        expect(whole(parse(amidOthers(bytes)))).toEqual(comparable(verdict));
        expect(Buffer.compare(serialise(parse(bytes)), bytes)).toBe(0);
      }),
      runs(200),
    );
  });

  it('can be read when the bytes are gone', () => {
    const [verdict] = fc.sample(verdicts, 1) as [RandomVerdict];
    const bytes = serialise(publishable(verdict));
    const push = parse(bytes);
    bytes.fill(0xff);
    expect(whole(push)).toEqual(comparable(verdict));
  });

  it('of another version is not read', () => {
    const bytes = serialise(publishable(fc.sample(verdicts, 1)[0] as RandomVerdict));
    for (const version of [0, 1, 255]) {
      expect(() => parse(bytes.with(0, version))).toThrow(RangeError);
    }
    expect(() => parse(new Uint8Array(0))).toThrow(RangeError);
  });

  it('that was cut anywhere, or goes on, is not read', () => {
    const small = verdicts.filter((verdict) => serialise(publishable(verdict)).length < 2_000);
    fc.assert(
      fc.property(small, (verdict) => {
        const bytes = amidOthers(serialise(publishable(verdict)));
        for (let end = 0; end < bytes.length; end++) {
          expect(() => parse(bytes.subarray(0, end)), `${end} bytes`).toThrow(RangeError);
        }
        expect(() => parse(new Uint8Array([...bytes, 0]))).toThrow(RangeError);
      }),
      runs(10),
    );
  });
});
