/**
 * Commits without their makers: stored as bytes and read back, and texts without the ids of own
 * commits.
 */
import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { concatBytes, utf8 } from '../../../src/git/bytes.ts';
import { OwnIds } from '../../../src/git/objects/own-ids.ts';
import {
  COMMIT_WORK,
  planCommits,
  PlannedCommits,
  withIds,
  orderByMentions,
} from '../../../src/git/objects/planned-commits.ts';
import { CountedMemory } from '../../support/counted-memory.ts';
import { commitContent, oidNumber, PRIVATE_WORDS } from '../../support/objects.ts';
import { newCommitOf } from '../../support/new-commits.ts';
import { decoded, plannedCommits } from '../../support/random-kept.ts';
import { runs } from '../../support/runs.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const UPSTREAM = oidNumber(1);
const TEXT = 'words '.repeat(1_000);

function newCommit(parents: readonly string[], message: string) {
  const content = commitContent({ parents, message });
  return newCommitOf(content);
}

function plan(...commits: ReturnType<typeof newCommit>[]) {
  return planCommits(commits, new OwnIds(commits.map(({ oid }) => oid)));
}

describe('planned commits', () => {
  it('are read as they were added, one at a time or all, and from their bytes', exhaustive, () => {
    fc.assert(
      fc.property(plannedCommits, (commits) => {
        const added = new PlannedCommits();
        for (const commit of commits) added.push(commit);
        const copied = new PlannedCommits();
        for (const encoded of added.encoded) copied.encoded.push(encoded);
        for (const planned of [added, copied]) {
          expect(Array.from(planned, decoded)).toEqual(commits.map(decoded));
          expect(decoded(planned.at(planned.length - 1))).toEqual(decoded(commits.at(-1)!));
        }
        const bytes = Array.from(added.encoded, ({ byteLength }) => byteLength);
        expect(added.byteLength).toBe(bytes.reduce((sum, length) => sum + length, 0));
      }),
      runs(70),
    );
  });

  it('name each other by number and upstream by id, and hold nothing of who made them', async () => {
    const one = newCommit([], 'one');
    const two = newCommit(
      [UPSTREAM, one.oid],
      `two, after ${one.oid} (${one.oid.slice(0, 7).toUpperCase()})`,
    );
    const { commits } = await plan(one, two);
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

  it('stand behind those that they mention, whatever the order of the push', async () => {
    const picked = newCommit([UPSTREAM], 'to be picked');
    const pick = newCommit([UPSTREAM], `cherry picked from commit ${picked.oid}`);
    const { commits } = await plan(pick, picked, newCommit([pick.oid, picked.oid], 'join'));
    const [first, second, third] = [...commits];
    expect(Buffer.from(first!.message.bytes).toString()).toBe('to be picked');
    expect(second!.message.mentions).toMatchObject([{ commit: 0 }]);
    expect(third!.parents).toEqual([1, 0]);
  });
});

describe('a planned text', () => {
  const own = [newCommit([UPSTREAM], 'one'), newCommit([UPSTREAM], 'two')];
  const idOf = (commit: number): string => own[commit]!.oid;

  it('gets ids in the places where it mentioned commits, and keeps every other byte', async () => {
    const { planText } = await plan(...own);
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
      runs(70),
    );
  });

  it('keeps zeros for a commit that was squashed away', async () => {
    const [swallowed, tip] = own;
    const { planText } = await planCommits([tip!], new OwnIds([swallowed!.oid, tip!.oid]));
    const planned = planText(utf8(`not ${swallowed!.oid}, but ${tip!.oid}`));
    expect(planned.mentions.map(({ commit }) => commit)).toEqual([null, 0]);
    const text = Buffer.from(withIds(planned, () => UPSTREAM)).toString();
    expect(text).toBe(`not ${'0'.repeat(40)}, but ${UPSTREAM}`);
  });
});

// Ids of the push's own commits in texts: found, replaced, and nothing else touched.

const A = '1234567890abcdef1234567890abcdef12345678';
const B = 'fedcba9876543210fedcba9876543210fedcba98';
/** Shares its first nine digits with A. */
const A_TWIN = `${A.slice(0, 9)}${'f'.repeat(31)}`;
const NEW = 'c'.repeat(40);

const replaced = (text: string | Uint8Array, oids = [A, B]): string => {
  const bytes = Buffer.from(text);
  const all = Buffer.from(bytes);
  for (const { start, length } of new OwnIds(oids).mentionsIn(bytes)) all.write(NEW.slice(0, length), start);
  return all.toString('latin1');
};

describe('a text that mentions an own commit', () => {
  it.each([
    ['in full', `This reverts commit ${A}.`, `This reverts commit ${NEW}.`],
    ['in the shortest abbreviation', `see ${A.slice(0, 7)}`, 'see ccccccc'],
    ['in upper case', `see ${A.slice(0, 12).toUpperCase()}`, 'see cccccccccccc'],
    ['at the very end of git describe’s', `v1.0-3-g${A.slice(0, 7)}`, 'v1.0-3-gccccccc'],
    ['in an address', `https://host/me/commit/${A}#x`, `https://host/me/commit/${NEW}#x`],
    ['in a range', `${A.slice(0, 8)}..${B.slice(0, 8)}`, 'cccccccc..cccccccc'],
  ])('%s gets the new id at the same length', (_, text, expected) => {
    expect(replaced(text)).toBe(expected);
  });

  it.each([
    ['shorter than Git abbreviates', A.slice(0, 6)],
    ['longer than an id', `${A}0`],
    ['that is another’s', oidNumber(7)],
    ['that differs in its last digit', `${A.slice(0, 39)}0`],
    ['that is part of a longer run of digits', `0${A.slice(0, 20)}`],
  ])('does not do so by digits %s', (_, digits) => {
    expect(replaced(`see ${digits}.`)).toBe(`see ${digits}.`);
  });

  it('is found among thousands that begin alike in a few steps', () => {
    const alike = Array.from({ length: 4_096 }, (_, at) => `abcdef0${String(at).padStart(33, '0')}`);
    const ids = new OwnIds(alike.toReversed());
    expect(ids.mentionsIn(utf8(`see ${alike[77]}`))).toEqual([{ start: 4, length: 40, oid: alike[77] }]);
    const startsWith = vi.spyOn(String.prototype, 'startsWith');
    expect(ids.mentionsIn(utf8('abcdef01 '.repeat(1_000)))).toEqual([]);
    const calls = startsWith.mock.calls.length;
    startsWith.mockRestore();
    expect(calls).toBeLessThan(5_000);
  });

  it('is left as it is where the abbreviation fits two of them', () => {
    const text = `${A.slice(0, 9)} and ${A.slice(0, 10)}`;
    expect(replaced(text, [A, A_TWIN])).toBe(`${A.slice(0, 9)} and cccccccccc`);
  });

  it('keeps every other byte, whatever the text is', () => {
    const part = fc.oneof(
      fc.uint8Array({ maxLength: 30 }).map((bytes) => Buffer.from(bytes)),
      fc.constantFrom('a', '0', 'F', 'deadbeef', ' ', '\n').map((text) => Buffer.from(text)),
    );
    const mention = fc
      .tuple(fc.constantFrom(A, B), fc.integer({ min: 7, max: 40 }))
      .map(([oid, length]) => Buffer.from(oid.slice(0, length)));
    fc.assert(
      fc.property(fc.array(fc.tuple(part, mention, part), { maxLength: 5 }), (parts) => {
        // Between characters that are no digits, each mention stands for itself.
        const before = Buffer.concat(
          parts.flatMap(([a, m, b]) => [a, Buffer.from('<'), m, Buffer.from('>'), b]),
        );
        const after = Buffer.concat(
          parts.flatMap(([a, m, b]) => [a, Buffer.from(`<${NEW.slice(0, m.length)}>`), b]),
        );
        const text = replaced(before);
        expect(text.length).toBe(before.length);
        for (const oid of [A, B]) expect(text).not.toMatch(new RegExp(`<${oid.slice(0, 7)}[0-9a-f]*>`));
        // Parts may spell an id of their own only by an accident that does not happen.
        expect(text).toBe(after.toString('latin1'));
      }),
      runs(100),
    );
  });
});

describe('the messages of a push', () => {
  it('are looked at while others go on, each as work, also where it is empty', async () => {
    const memory = new CountedMemory();
    const commits = Array.from({ length: 100 }, (_, at) => newCommit([oidNumber(at)], at === 0 ? TEXT : ''));
    const before = vi.spyOn(memory, 'worked');
    const { messages } = await planCommits(commits, new OwnIds([]), memory);
    expect(Array.from(messages, ({ length }) => length)).toEqual([TEXT.length, ...Array(99).fill(0)]);
    expect(memory.workedBytes).toBe(2 * TEXT.length + 100 * COMMIT_WORK);
    expect(before.mock.calls.length).toBeGreaterThan(100);
  });

  it('may not mention its commits without end: each mention is kept', async () => {
    const first = newCommit([], 'first');
    const message = `${first.oid.slice(0, 7)} `.repeat(30_000);
    const commits = [first, newCommit([first.oid], message), newCommit([], message)];
    const ownIds = new OwnIds(commits.map(({ oid }) => oid));
    expect((await ownIds.mentionsInMessages(commits.slice(0, 2))).size).toBe(1);
    await expect(ownIds.mentionsInMessages(commits)).rejects.toThrow('name commits of the push too often');
  });
});

describe('a squashed commit whose words name the tip that it is made of', () => {
  it('gets zeros in their place', async () => {
    const first = newCommit([UPSTREAM], 'first');
    const tip = newCommit([first.oid], 'second');
    const message = utf8(`All of ${tip.oid.slice(0, 12)}`);
    const squashed = { ...tip, commit: { ...tip.commit, parents: [UPSTREAM], message } };
    const { commits } = await planCommits([squashed], new OwnIds([first.oid, tip.oid]));
    const { bytes, mentions } = commits.at(0).message;
    expect(mentions).toEqual([{ start: 7, length: 12, commit: null }]);
    expect(Buffer.from(bytes).toString()).toBe(`All of ${'0'.repeat(12)}`);
  });
});

describe('an abbreviation that was made to name a later commit', () => {
  it('becomes zeros, and no original id leaves', async () => {
    const first = newCommit([UPSTREAM], 'names abcdef0');
    const second = newCommit([first.oid], `after ${first.oid}`);
    const ownIds = new OwnIds([first.oid, second.oid]);
    const found = await ownIds.mentionsInMessages([second]);
    const circle = new Map([...found, [first.oid, [{ start: 6, length: 7, oid: second.oid }]]]);
    vi.spyOn(ownIds, 'mentionsInMessages').mockResolvedValue(circle);
    const { commits } = await planCommits([first, second], ownIds);
    const messages = Array.from(commits, ({ message }) => Buffer.from(message.bytes).toString());
    expect(messages).toEqual(['names 0000000', `after ${'0'.repeat(40)}`]);
    expect(Array.from(commits, ({ parents }) => parents)).toEqual([[UPSTREAM], [0]]);
    const mentioned = Array.from(commits, ({ message }) => message.mentions.map(({ commit }) => commit));
    expect(mentioned).toEqual([[null], [0]]);
  });
});

describe('orderByMentions', () => {
  it('puts a commit behind those that it mentions, and behind its parents', async () => {
    const side = newCommit([oidNumber(1)], 'side');
    const pick = newCommit([oidNumber(1)], `pick ${side.oid}`);
    const merge = newCommit([pick.oid, side.oid], 'merge');
    // Parents before children, as the walk over the history finds them.
    const found = [pick, side, merge];
    const mentions = await new OwnIds(found.map(({ oid }) => oid)).mentionsInMessages(found);
    expect(orderByMentions(found, mentions)).toEqual([side, pick, merge]);
  });

  it('takes a commit that is mentioned often as if it was mentioned once', async () => {
    const last = newCommit([], `last ${oidNumber(1)}`);
    const often = newCommit([], `${last.oid.slice(0, 7)} `.repeat(20_000));
    const alsoOften = newCommit([], `x ${`${often.oid.slice(0, 7)} `.repeat(20_000)}`);
    const commits = [alsoOften, often, last];
    const mentions = await new OwnIds(commits.map(({ oid }) => oid)).mentionsInMessages(commits);
    expect(orderByMentions(commits, mentions)).toEqual([last, often, alsoOften]);
  });

  it('changes nothing where nothing is mentioned', () => {
    const commits = [newCommit([], 'a'), newCommit([], 'b')];
    expect(orderByMentions(commits, new Map())).toBe(commits);
  });

  it('leaves the parents first where abbreviations were made to name commits in a circle', () => {
    const first = newCommit([UPSTREAM], 'first');
    const second = newCommit([first.oid], 'second');
    const commits = [first, second];
    const named = { start: 0, length: 7 };
    const itself = new Map([[first.oid, [{ ...named, oid: first.oid }]]]);
    expect(orderByMentions(commits, itself)).toEqual(commits);
    const itsChild = new Map([[first.oid, [{ ...named, oid: second.oid }]]]);
    expect(orderByMentions(commits, itsChild)).toBe(commits);
  });
});
