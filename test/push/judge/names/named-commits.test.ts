/** Commits that Git's own words name. */
import { expect, it } from 'vitest';
import type { KnownHistory } from '../../../../src/git/objects/new-commits.ts';
import { namedCommits } from '../../../../src/push/judge/names/named-commits.ts';
import { oidNumber } from '../../../support/objects.ts';

const [OWN, UPSTREAMS, STRANGE] = [oidNumber(1), oidNumber(2), oidNumber(3)];
const history = { isKnown: (oid: string) => oid === UPSTREAMS, since: -Infinity } as unknown as KnownHistory;

it.each(['This reverts commit %.', '(cherry picked from commit %)', "Merge commit '%'"])(
  'of nobody are told apart from own ones and upstream’s: %s',
  async (words) => {
    const messages = [OWN, UPSTREAMS, STRANGE].map((oid) => Buffer.from(words.replace('%', oid)));
    const found = await namedCommits(
      messages,
      (oid) => oid === OWN,
      history,
      async () => false,
    );
    expect(found).toEqual({ oids: [STRANGE], areStrange: true });
  },
);
