/** Ids of the push's own commits in texts: found, replaced, and nothing else touched. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCommit } from '../../../src/git/objects/commit.ts';
import { orderByMentions, OwnIds } from '../../../src/git/objects/planned-commits.ts';
import { commitContent, oidNumber } from '../../support/objects.ts';
import { oidOf } from '../../support/pack-builder.ts';
import { runs } from '../../support/runs.ts';

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
      runs(300),
    );
  });
});

function commit(parents: readonly string[], message: string) {
  const content = commitContent({ parents, message });
  return { oid: oidOf('commit', content), commit: parseCommit(content) };
}

describe('the messages of a push', () => {
  it('may not mention its commits without end: each mention is kept', () => {
    const first = commit([], 'first');
    const message = `${first.oid.slice(0, 7)} `.repeat(30_000);
    const commits = [first, commit([first.oid], message), commit([], message)];
    const ownIds = new OwnIds(commits.map(({ oid }) => oid));
    expect(ownIds.mentionsInMessages(commits.slice(0, 2)).size).toBe(1);
    expect(() => ownIds.mentionsInMessages(commits)).toThrow('name commits of the push too often');
  });
});

describe('orderByMentions', () => {
  it('puts a commit behind those that it mentions, and behind its parents', () => {
    const side = commit([oidNumber(1)], 'side');
    const pick = commit([oidNumber(1)], `pick ${side.oid}`);
    const merge = commit([pick.oid, side.oid], 'merge');
    // Parents before children, as the walk over the history finds them.
    const found = [pick, side, merge];
    const mentions = new OwnIds(found.map(({ oid }) => oid)).mentionsInMessages(found);
    expect(orderByMentions(found, mentions)).toEqual([side, pick, merge]);
  });

  it('takes a commit that is mentioned often as if it was mentioned once', () => {
    const last = commit([], `last ${oidNumber(1)}`);
    const often = commit([], `${last.oid.slice(0, 7)} `.repeat(20_000));
    const alsoOften = commit([], `x ${`${often.oid.slice(0, 7)} `.repeat(20_000)}`);
    const commits = [alsoOften, often, last];
    const mentions = new OwnIds(commits.map(({ oid }) => oid)).mentionsInMessages(commits);
    const startedAt = performance.now();
    expect(orderByMentions(commits, mentions)).toEqual([last, often, alsoOften]);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  it('changes nothing where nothing is mentioned', () => {
    const commits = [commit([], 'a'), commit([], 'b')];
    expect(orderByMentions(commits, new Map())).toBe(commits);
  });
});
