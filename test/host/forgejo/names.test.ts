/** Which names of repositories lead to one on Gitea and Forgejo, and which to something else. */
import { describe, expect, it } from 'vitest';
import { parseName } from '../../../src/host/kinds.ts';

describe.each(['gitea', 'forgejo'] as const)('%s', (kind) => {
  it.each([
    ['mona', 'hello'],
    ['Mona.Lisa-1_x', '.profile'],
    ['m', 'a'.repeat(100)],
    ['0ad', 'hello_world-2.0'],
  ])('has %s/%s', (owner, name) => {
    expect(parseName(kind, owner, name)).toEqual({ owner, name });
    expect(parseName(kind, owner, `${name}.git`)).toEqual({ owner, name });
  });

  it.each([
    ['api', 'v1'],
    ['API', 'v1'],
    ['user', 'settings'],
    ['.well-known', 'x'],
    ['mona.keys', 'x'],
    ['mona--lisa', 'x'],
    ['-mona', 'x'],
    ['mona.', 'x'],
    ['a'.repeat(41), 'x'],
    ['mona', '-'],
    ['mona', '..'],
    ['mona', 'hello.wiki'],
    ['mona', 'hello.WIKI.git'],
    ['mona', 'hello.git.git'],
    ['mona', 'feed.atom'],
    ['mona', 'a'.repeat(101)],
    ['mona', 'a b'],
  ])('has nothing of the name %s/%s', (owner, name) => {
    expect(parseName(kind, owner, name)).toBeNull();
  });
});

it('the rules of one kind are not those of another', () => {
  expect(parseName('github', 'api', 'hello.wiki')).toEqual({ owner: 'api', name: 'hello.wiki' });
});
