/**
 * Windows that a write counts in: nothing that names a person or a place, and one part for all that
 * one person may hold.
 */
import { expect, it } from 'vitest';
import { clientIn } from '../../src/limits/client.ts';
import {
  commentClaim,
  delayedNamesOf,
  openingIn,
  pullRequestClaim,
  quotaNamesOf,
  targetKey,
} from '../../src/limits/claim.ts';

const SECRET = 'x'.repeat(32);
const limits = [{ most: 1, withinMs: 1000 }];
const account = { creations: limits, openings: [] };
const at = (network: string) => clientIn(network, SECRET);

const kinds = (network: string) =>
  openingIn({ key: 'x', limits }, account, pullRequestClaim(at(network), 'push')).windows.map(
    ({ kind }) => kind,
  );

it('the networks that anybody may get for nothing have one part', () => {
  expect(quotaNamesOf(at('2001:db8:7:1::/64'))).toEqual(quotaNamesOf(at('2001:db8:7:2::/64')));
  expect(quotaNamesOf(at('2001:db8:8:1::/64'))).not.toEqual(quotaNamesOf(at('2001:db8:7:1::/64')));
  expect(quotaNamesOf(at('192.0.2.1'))).not.toEqual(quotaNamesOf(at('192.0.2.2')));
});

it('a pull request counts for its address, its /48 if there is one, the repository and the account', () => {
  expect(kinds('2001:db8:7:1::/64')).toEqual(['address', 'prefix', 'repository', 'account']);
  expect(kinds('192.0.2.1')).toEqual(['address', 'repository', 'account']);
});

it('a comment counts for its thread and the account, and for the repository’s part of that', () => {
  const [repository, thread] = [targetKey(SECRET, 'octo/hello'), targetKey(SECRET, 'octo/hello#7')];
  const claim = commentClaim('by', repository, { key: thread, limits }, account);
  expect(claim.windows.map(({ kind }) => kind)).toEqual(['thread', 'comments', 'account']);
  expect(claim.repository).toBe(repository);
  expect(targetKey(SECRET, 'OCTO/Hello')).toBe(repository);
});

it('what is delayed has a name that thousands of addresses share, and another one every six hours', () => {
  const noon = Date.UTC(2031, 0, 1, 12);
  const named = Array.from({ length: 256 * 4 }, (_, index) => {
    const network = `198.18.${Math.floor(index / 256)}.${index % 256}`;
    return delayedNamesOf(at(network), noon).now;
  });
  // One in 2^20 has the name of a given one: of all IPv4 addresses 4,096.
  expect(named.every((name) => name.length === 5)).toBe(true);
  const later = delayedNamesOf(at('198.18.0.0'), noon + 14 * 24 * 60 * 60_000);
  expect(later.now).not.toBe(named[0]);
  expect(later.earlier).toContain(named[0]);
});
