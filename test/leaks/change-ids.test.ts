import { describe, expect, it } from 'vitest';
import { latin1, utf8 } from '../../src/git/bytes.ts';
import { changeIdsIn } from '../../src/leaks/messages.ts';

const ID = `I${'0123456789abcdefABCD'.repeat(2)}`;
const found = (text: string) => [...changeIdsIn(latin1(utf8(text)))];

describe('changeIdsIn', () => {
  it.each([
    [`One\n\nChange-Id: ${ID}\n`, [16]],
    [`change-id:\t${ID}\r\n`, [11]],
    [`Größe\n\n    Change-Id: ${ID}\nChange-Id: ${ID}`, [24, 77]],
    [`Link: https://review.example/id/${ID}`, [32]],
    [`https://review.example/q/${ID}`, [25]],
    [`Change-Id : ${ID}`, [12]],
    [`Change-Id:\n ${ID}`, [12]],
    [`Change-ID=${ID}`, [10]],
    [`Change-Id:\u00a0${ID}`, [12]],
    [`Depends-On: ${ID}`, [12]],
    [ID, [0]],
    [ID.toLowerCase(), [0]],
    [`_${ID}_`, [1]],
  ])('finds %j', (text, places) => {
    expect(found(text)).toEqual(places);
  });

  it.each(['', 'Change-Id: I1234567', ID.slice(1), `${ID}0`, ID.slice(0, -1), `a${ID}`, `0${ID}`])(
    'finds nothing in %j',
    (text) => {
      expect(found(text)).toEqual([]);
    },
  );

  it('finds a part of a larger buffer, in any encoding', () => {
    const bytes = Buffer.concat([Buffer.of(0x49, 0xff), utf8(`Change-Id: ${ID}`), utf8('0')]);
    expect([...changeIdsIn(latin1(bytes.subarray(1, -1)))]).toEqual([12]);
  });

  it('reads megabytes that nearly match before the test times out', () => {
    expect(found('I'.repeat(2_000_000))).toEqual([]);
    expect(found(' I0123456789'.repeat(100_000))).toEqual([]);
  });
});
