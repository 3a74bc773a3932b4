/** Commits without their makers: stored as bytes and read back, and texts without the ids of own commits. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { concatBytes, utf8 } from '../../../src/git/bytes.ts';
import { parseCommit } from '../../../src/git/objects/commit.ts';
import { OwnIds } from '../../../src/git/objects/planned-commits.ts';
import { planCommits, PlannedCommits, withIds } from '../../../src/git/objects/planned-commits.ts';
import { commitContent, oidNumber, PRIVATE_WORDS } from '../../support/objects.ts';
import { oidOf } from '../../support/pack-builder.ts';
import { comparable, plannedCommits } from '../../support/random-kept.ts';
import { runs } from '../../support/runs.ts';

const UPSTREAM = oidNumber(1);

function newCommit(parents: readonly string[], message: string) {
  const content = commitContent({ parents, message });
  return { oid: oidOf('commit', content), commit: parseCommit(content) };
}

function plan(...commits: ReturnType<typeof newCommit>[]) {
  return planCommits(commits, new OwnIds(commits.map(({ oid }) => oid)));
}

describe('planned commits', () => {
  it('are read as they were added, one at a time or all, and from their bytes', () => {
    fc.assert(
      fc.property(plannedCommits, (commits) => {
        const added = new PlannedCommits();
        for (const commit of commits) added.push(commit);
        const copied = new PlannedCommits();
        for (const encoded of added.encoded) copied.encoded.push(encoded);
        for (const planned of [added, copied]) {
          expect(Array.from(planned, comparable)).toEqual(commits.map(comparable));
          expect(comparable(planned.at(planned.length - 1))).toEqual(comparable(commits.at(-1)!));
        }
        const bytes = Array.from(added.encoded, ({ byteLength }) => byteLength);
        expect(added.byteLength).toBe(bytes.reduce((sum, length) => sum + length, 0));
      }),
      runs(200),
    );
  });

  it('name each other by number and upstream by id, and hold nothing of who made them', () => {
    const one = newCommit([], 'one');
    const two = newCommit(
      [UPSTREAM, one.oid],
      `two, after ${one.oid} (${one.oid.slice(0, 7).toUpperCase()})`,
    );
    const { commits } = plan(one, two);
    const text = `two, after ${'0'.repeat(40)} (0000000)`;
    expect(Array.from(commits, ({ parents, message }) => ({ parents, message }))).toEqual([
      { parents: [], message: { bytes: utf8('one'), mentions: [] } },
      {
        parents: [UPSTREAM, 0],
        message: {
          bytes: utf8(text),
          mentions: [
            { start: 11, length: 40, commit: 0 },
            { start: 53, length: 7, commit: 0 },
          ],
        },
      },
    ]);
    const bytes = Buffer.concat([...commits.encoded]);
    for (const word of PRIVATE_WORDS) expect(bytes.includes(word)).toBe(false);
    for (const { oid } of [one, two]) {
      expect(bytes.includes(Buffer.from(oid, 'hex'))).toBe(false);
      expect(bytes.toString('latin1').toLowerCase()).not.toContain(oid.slice(0, 7));
    }
  });

  it('stand behind those that they mention, whatever the order of the push', () => {
    const picked = newCommit([UPSTREAM], 'to be picked');
    const pick = newCommit([UPSTREAM], `cherry picked from commit ${picked.oid}`);
    const { commits } = plan(pick, picked, newCommit([pick.oid, picked.oid], 'join'));
    const [first, second, third] = [...commits];
    expect(Buffer.from(first!.message.bytes).toString()).toBe('to be picked');
    expect(second!.message.mentions).toMatchObject([{ commit: 0 }]);
    expect(third!.parents).toEqual([1, 0]);
  });
});

describe('a planned text', () => {
  const own = [newCommit([UPSTREAM], 'one'), newCommit([UPSTREAM], 'two')];
  const idOf = (commit: number): string => own[commit]!.oid;

  it('gets ids in the places where it mentioned commits, and keeps every other byte', () => {
    const { planText } = plan(...own);
    const mention = fc
      .record({ commit: fc.nat(1), length: fc.integer({ min: 7, max: 40 }) })
      .map(({ commit, length }) => Buffer.from(idOf(commit).slice(0, length)));
    // Ids come back in small letters, so no digit in capitals may happen to go on with one.
    const other = fc
      .uint8Array({ maxLength: 20 })
      .map((bytes) => bytes.filter((byte) => byte < 0x41 || byte > 0x46));
    const part = fc.tuple(other, mention, other).map((bytes) => Buffer.concat(bytes));
    fc.assert(
      fc.property(fc.array(part, { maxLength: 4 }), (parts) => {
        const text = concatBytes(parts.flatMap((bytes) => [utf8(' '), bytes]));
        const planned = planText(text);
        expect(Buffer.from(withIds(planned, idOf)).equals(text)).toBe(true);
        expect(planned.bytes.length).toBe(text.length);
        expect(new OwnIds(own.map(({ oid }) => oid)).mentionsIn(planned.bytes)).toEqual([]);
      }),
      runs(200),
    );
  });

  it('keeps zeros for a commit that was squashed away', () => {
    const [swallowed, tip] = own;
    const { planText } = planCommits([tip!], new OwnIds([swallowed!.oid, tip!.oid]));
    const planned = planText(utf8(`not ${swallowed!.oid}, but ${tip!.oid}`));
    expect(planned.mentions.map(({ commit }) => commit)).toEqual([null, 0]);
    const text = Buffer.from(withIds(planned, () => UPSTREAM)).toString();
    expect(text).toBe(`not ${'0'.repeat(40)}, but ${UPSTREAM}`);
  });
});
