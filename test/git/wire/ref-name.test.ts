/** Which ref names are taken, against the answers that `git check-ref-format` gave. */
import { describe, expect, it } from 'vitest';
import { isValidRefName, parsePushTarget } from '../../../src/git/wire/ref-name.ts';

/** Recorded with git 2.39: each name with whether `git check-ref-format <name>` exited with 0. */
const CHECK_REF_FORMAT: readonly (readonly [string, boolean])[] = [
  ['refs/heads/main', true],
  ['refs/heads/a/b', true],
  ['refs/heads/.a', false],
  ['refs/heads/a/.b', false],
  ['refs/heads/a/./b', false],
  ['refs/heads/..', false],
  ['refs/heads/...', false],
  ['refs/heads/.lock', false],
  ['refs/heads/a.lock', false],
  ['refs/heads/a.lock/b', false],
  ['refs/heads/a.locked', true],
  ['refs/heads/a.LOCK', true],
  ['refs/heads/a..b', false],
  ['refs/heads/a...b', false],
  ['refs/heads/a b', false],
  ['refs/heads/a\tb', false],
  ['refs/heads/a\nb', false],
  ['refs/heads/a\u0001', false],
  ['refs/heads/a\u007fb', false],
  ['refs/heads/a~b', false],
  ['refs/heads/a^b', false],
  ['refs/heads/a:b', false],
  ['refs/heads/a?b', false],
  ['refs/heads/a*b', false],
  ['refs/heads/a[b', false],
  ['refs/heads/a]b', true],
  ['refs/heads/a\\b', false],
  ['refs/heads/a@{b', false],
  ['refs/heads/@{', false],
  ['refs/heads/a@b', true],
  ['refs/heads/a@', true],
  ['refs/heads/@', true],
  ['refs/heads/{', true],
  ['refs/heads/a.', false],
  ['refs/heads/a./b', true],
  ['refs/heads/a/', false],
  ['refs/heads//a', false],
  ['/refs/heads/a', false],
  ['refs/heads/-a', true],
  ['refs/heads/HEAD', true],
  ['refs/heads/é', true],
  ['refs/heads/日本', true],
  ['refs/heads/a"b', true],
  ["refs/heads/a'b", true],
  ['refs/heads/$(x)', true],
  ['refs/heads/a%2fb', true],
  ['refs/heads/a;b', true],
  ['refs/heads/a&b|c<d>e', true],
  ['refs/for/main', true],
  ['refs/tags/v1.0', true],
  ['refs/', false],
  ['refs', false],
  ['HEAD', false],
  ['', false],
];

describe('isValidRefName', () => {
  it.each(CHECK_REF_FORMAT)('says of %j what git check-ref-format says: %s', (name, expected) => {
    expect(isValidRefName(name)).toBe(expected);
  });

  it.each([
    ['refs/heads', 'receive-pack takes no ref directly below refs/'],
    ['heads/main', 'a pushed ref is named in full'],
    ['main', 'a branch is no ref name'],
    [`refs/heads/${'a'.repeat(1014)}`, 'the name is too long'],
    ['refs/heads/a\0b', 'NUL'],
  ])('refuses %j besides: %s', (name) => {
    expect(isValidRefName(name)).toBe(false);
  });
});

describe('parsePushTarget', () => {
  it.each([
    ['refs/heads/main', { kind: 'branch', branch: 'main' }],
    ['refs/heads/feature/x', { kind: 'branch', branch: 'feature/x' }],
    ['refs/heads/for/main', { kind: 'branch', branch: 'for/main' }],
    ['refs/for/main', { kind: 'for', base: 'main' }],
    ['refs/for/release/1.x', { kind: 'for', base: 'release/1.x' }],
    ['refs/tags/v1', { kind: 'tag' }],
    ['refs/notes/commits', { kind: 'other' }],
    ['refs/pull/1/head', { kind: 'other' }],
    ['refs/headset/main', { kind: 'other' }],
  ] as const)('reads %s', (name, target) => {
    expect(parsePushTarget(name)).toEqual(target);
  });
});

it('takes no name that is not UTF-8, although Git would', () => {
  expect(isValidRefName('refs/heads/gr\udcf6\udcdfe')).toBe(false);
  expect(isValidRefName('refs/heads/\u{1f600}')).toBe(true);
});
