import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { OidBeginnings } from '../../../src/git/objects/oid-beginnings.ts';

const oidOf = (at: number) => createHash('sha1').update(String(at)).digest('hex');

it('has the ids that were added, in any order and any number, and no others', () => {
  for (const count of [0, 1, 2, 5_000]) {
    const ids = new OidBeginnings();
    for (let at = 0; at < count; at++) ids.push(oidOf(at));
    ids.sort();
    expect(ids.byteLength).toBe(8 * count);
    for (let at = 0; at < count; at++) expect(ids.has(oidOf(at))).toBe(true);
    for (let at = count; at < count + 1_000; at++) expect(ids.has(oidOf(at))).toBe(false);
  }
});

it('knows the least and the greatest id, and one that was added twice', () => {
  const ids = new OidBeginnings();
  for (const digit of ['f', '0', 'f']) ids.push(digit.repeat(40));
  ids.sort();
  expect([ids.has('0'.repeat(40)), ids.has('f'.repeat(40)), ids.has('7'.repeat(40))]).toEqual([
    true,
    true,
    false,
  ]);
});
