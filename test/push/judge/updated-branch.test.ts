/** Words for what an update adds and drops. */
import { expect, it } from 'vitest';
import { AnonymousCommits } from '../../../src/git/objects/anonymize.ts';
import type { NewCommit } from '../../../src/git/objects/found-commits.ts';
import { updatedCommits } from '../../../src/push/judge/updated-branch.ts';
import { changesText } from '../../../src/text/commit-changes.ts';
import { commitContent, oidNumber } from '../../support/objects.ts';
import { newCommitOf } from '../../support/new-commits.ts';
import { oidOf } from '../../support/pack-builder.ts';
import { planned } from '../../support/planned.ts';

const UPSTREAM = oidNumber(1);
const BOT = { name: 'bot', email: 'bot@example.invalid' };

/** A line of commits on upstream as they leave. @param messages the oldest first. */
function leave(...messages: string[]) {
  const made: NewCommit[] = [];
  for (const message of messages) {
    const content = commitContent({ parents: [made.at(-1)?.oid ?? UPSTREAM], message });
    made.push(newCommitOf(content));
  }
  const { commits } = planned(made);
  const leaving = new AnonymousCommits(commits, BOT, () => 1_800_000_000);
  const objects = new Map(
    Array.from(leaving.contents(), (bytes) => {
      const content = bytes.slice();
      const oid = oidOf('commit', content);
      return [oid, { type: 'commit', oid, content } as const];
    }),
  );
  return { commits, leaving, objects };
}

/** @param shown how many of the old ones the host shows. */
async function update(before: readonly string[], after: readonly string[], shown = before.length) {
  const old = leave(...before);
  let asked = 0;
  const said = await updatedCommits(
    { ...leave(...after), tip: old.leaving.tip },
    (oid) => oid === UPSTREAM,
    async () => {
      asked += 1;
      return new Map([...old.objects].slice(old.objects.size - shown));
    },
  );
  return { said: said && changesText(said), asked };
}

it.each([
  [['a'], ['a', 'b', 'c'], '2 commits added'],
  [['a', 'b'], ['c'], '1 commit added, 2 dropped (b, a)'],
  [['a', 'b'], ['a'], '1 commit dropped (b)'],
  [['a', 'b'], ['0', 'a', 'b'], '1 commit added, 2 changed'],
  [['a', 'b', 'c', 'd', 'e'], ['a'], '4 commits dropped (e, d, c, ...)'],
  [['a', 'b\u001b[2J'], ['a'], '1 commit dropped (b[U+001B][2J)'],
  [['a'], ['a'], ''],
])('from %j to %j: %s', async (before, after, words) => {
  expect((await update(before, after)).said).toBe(words);
});

it('costs a request only if something is replaced', async () => {
  expect((await update(['a'], ['a', 'b'])).asked).toBe(0);
  expect((await update(['a'], ['b'])).asked).toBe(1);
});

it('is not said of more commits than the host shows', async () => {
  expect((await update(['a', 'b'], ['c'], 1)).said).toBeNull();
});
