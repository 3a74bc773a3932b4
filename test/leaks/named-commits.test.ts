/** Commits that messages name. */
import { describe, expect, it } from 'vitest';
import { latin1 } from '../../src/git/bytes.ts';
import { namedCommits, ownDaysIn } from '../../src/leaks/messages.ts';

const STRANGE = 'c0ffee1234567890abcdef1234567890abcdef12';
const UPSTREAMS = 'feed1234567890abcdef1234567890abcdef1234';
/** As the push's own stand in messages. */
const OWN = '0'.repeat(40);

type NamedHistory = Parameters<typeof namedCommits>[1];

const history = (since = -Infinity, more: readonly string[] = []): NamedHistory => {
  let known = [UPSTREAMS];
  return {
    isKnown: (oid) => known.includes(oid),
    unknownOf: (ids) => [...ids].filter((id) => !known.some((oid) => oid.startsWith(id))),
    since,
    reachBack: async () => known.length < (known = [UPSTREAMS, ...more]).length,
  };
};

const named = (messages: readonly string[], past = history()) =>
  namedCommits(
    messages.map((message) => Buffer.from(message)),
    past,
  );

it.each(['This reverts commit %.', '(cherry picked from commit %)', "Merge commit '%'"])(
  'of nobody are told apart from own ones and upstream’s: %s',
  async (words) => {
    const found = await named([OWN, UPSTREAMS, STRANGE].map((oid) => words.replace('%', oid)));
    expect(found).toEqual({ oids: [STRANGE], likely: [], areStrange: true });
  },
);

describe('digits anywhere else', () => {
  it.each([
    'Fixes: % ("The cause")',
    'See %',
    'git-subtree-split: %',
    'This reverts commit % (The cause, 2009-02-13).',
    'since v1.0-3-g% it fails',
    'https://git.test/ada/hello/commit/%',
    '%: the cause',
    'between %..%',
  ])('are likely ids of commits, whole or abbreviated: %s', async (words) => {
    for (const id of [STRANGE, STRANGE.slice(0, 12), STRANGE.slice(0, 7)]) {
      const { oids, likely } = await named([words.replaceAll('%', id)]);
      expect([...oids, ...likely]).toEqual([id]);
      const upstreams = await named([words.replaceAll('%', UPSTREAMS.slice(0, id.length))]);
      expect([...upstreams.oids, ...upstreams.likely]).toEqual([]);
    }
  });

  it.each([
    'on 20240101, 1234567 times',
    'the facade was defaced',
    'color: #c0ffee12',
    'id 550e8400-e29b-41d4-a716-446655440000',
    'md5 d41d8cd98f00b204e9800998ecf8427e',
    'sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    'x64c0ffee1',
    'c0ffee1x',
    `${'0'.repeat(40)} and 0000000`,
  ])('may be something else: %s', async (text) => {
    expect((await named([text])).likely).toEqual([]);
  });

  it('are upstream’s if its history has them further back, and nobody knows if it cannot be listed', async () => {
    expect((await named([`See ${STRANGE}`], history(-Infinity, [STRANGE]))).likely).toEqual([]);
    expect((await named([`See ${STRANGE}`], history(1_000))).likely).toEqual([]);
  });
});

const days = (text: string): string[] => [...ownDaysIn(latin1(Buffer.from(text)))];

describe('the day of an own commit', () => {
  it('is found where Git writes it beside the id', () => {
    const words = 'This reverts commit 0000000000 (fix(api): add r, 2009-02-13)';
    expect(days(`Revert\n\n${words}.\n`)).toEqual([words]);
  });

  it.each([
    'This reverts commit c0ffee1 (Add r, 2009-02-13).',
    '0000000 (a\nb, 2009-02-13)',
    'made (here, 2009-02-13)',
  ])('is not: %j', (text) => {
    expect(days(text)).toEqual([]);
  });
});
