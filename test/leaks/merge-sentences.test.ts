/** Which of the sentences that Git writes about merges name something else than upstream. */
import { describe, expect, it } from 'vitest';
import { latin1 } from '../../src/git/bytes.ts';
import { privateMerges } from '../../src/leaks/merge-sentences.ts';

const upstream = {
  refs: ['refs/heads/main', 'refs/heads/release/1.2', 'refs/tags/v1.0'].map((name) => ({
    name,
    oid: '0'.repeat(40),
  })),
  repository: { owner: 'octo', name: 'hello' },
  urls: ['https://git.test/octo/hello', 'https://gitveil.test/v1/gh/octo/hello'],
};

const privateIn = (message: string): string[] => [...privateMerges(upstream)(latin1(Buffer.from(message)))];
const isPrivate = (message: string): boolean => privateIn(message).length > 0;

describe('a sentence about a merge', () => {
  it.each([
    "Merge branch 'main' of ../m2 into topic-acme-corp-1234",
    "Merge branch 'main' of ../m2",
    "Merge branch 'main' of /home/ada/my work/m2",
    "Merge branch 'main' of https://git.test/ada/hello",
    "Merge branch 'main' of alice@git.test:octo/hello",
    "Merge branch 'main' of http://abc.onion/v1/gh/octo/hello",
    "Merge branch 'main' into feature-x",
    "Merge branch 'feature-x'",
    "Merge branches 'main' and 'feature-x'",
    "Merge branch 'main' of https://git.test/octo/hello; branch 'x' of ../m2",
    "Merge remote-tracking branch 'alice/main'",
    "Merge remote-tracking branch 'origin/feature-x' into main",
    "Merge tag 'acme-3'",
    "Merge commit 'feature-x~2'",
    "Merge commit 'stash@{0}'",
    'Merge ../m2',
    'Merge git@git.test:ada/hello into main',
    'Merge C:\\work\\m2',
    'Merge pull request #1 from ada/main',
    "Merge pull request 'Mend it' (#1) from ada/topic into main",
    "Merge branch 'feature-x' into 'main'\n\nSee merge request ada/hello!1",
    `Revert "Merge branch 'feature-x'"`,
    "Mend it\n\n* one\n\n* Merge branch 'main' into feature-x\n",
    "Merge branch 'main' into feature-x\r\n",
  ])('that names what is not upstream’s is found: %j', (message) => {
    expect(isPrivate(message)).toBe(true);
  });

  it.each([
    "Merge branch 'main'",
    "Merge branch 'main' into main",
    "Merge branch 'main' into HEAD",
    "Merge branches 'main' and 'release/1.2' into main",
    "Merge remote-tracking branch 'origin/main'",
    "Merge remote-tracking branch 'upstream/release/1.2' into main",
    "Merge branch 'main' of https://git.test/octo/hello",
    "Merge branch 'main' of git@git.test:octo/Hello.git into release/1.2",
    "Merge branch 'main' of ssh://git@git.test/octo/hello",
    "Merge branch 'main' of https://gitveil.test/v1/gh/octo/hello",
    "Merge tag 'v1.0'",
    "Merge commit '0123abc'",
    "Merge commit '0123456789012345678901234567890123456789' as 'vendor/lib'",
    "Merge commit 'origin/main'",
    "Merge commit 'refs/pull/7/head' of https://git.test/octo/hello",
    'Merge https://git.test/octo/hello',
    'Merge pull request #1 from octo/release/1.2',
    "Merge pull request 'Mend it' (#1) from release/1.2 into main",
    `Revert "Merge branch 'main'"`,
    'Merge sort: mend it',
    'Merge the branches of the parser into one',
    "Do not Merge branch 'x'",
    'Merge',
  ])('that names only upstream, or is another one, is none: %j', (message) => {
    expect(isPrivate(message)).toBe(false);
  });

  it('is told as it stands, and costs little in a long message', () => {
    const line = "Merge branch 'main' of ../m2 into topic-acme-corp-1234";
    expect(privateIn(`${line}\n\nWhy\n`)).toEqual([line]);
    const many = privateIn(`Merge branch 'main'\n`.repeat(20_000));
    expect(many.length).toBeGreaterThan(0);
    expect(privateIn(`Merge branch 'main'\n`.repeat(10_000))).toEqual([]);
    for (const part of ["Merge branch 'x' of y ", " of ' of ", "''", 'Merge ', '; , '])
      expect(() => isPrivate(`Merge branch '${part.repeat(200_000)}`)).not.toThrow();
  });
});
