/** Which deltas may hide a part of a name in what they copy, and what they insert. */
import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { readInserts } from '../../../src/git/pack/delta.ts';
import { OBJ_BLOB, OBJ_OFS_DELTA } from '../../../src/git/pack/entry-header.ts';
import { PackScan } from '../../../src/git/search/pack-scan.ts';
import { SearchedNames } from '../../../src/git/search/searched-names.ts';
import { randomPieces } from '../../support/byte-chunks.ts';
import { inserting, lookAt, scanned } from '../../support/inserting.ts';
import { copyInstruction, deltaSize, makeDelta } from '../../support/pack-builder.ts';
import { namesOf } from '../../support/pack-searching.ts';
import { runs } from '../../support/runs.ts';

const HAS_NAME = /\bada lovelace\b|\bada\.l@example\.org\b/i;
const names = namesOf('Ada Lovelace <ada.l@example.org>');
const isSuspect = (delta: Uint8Array): boolean => scanned(names, [delta]) !== null;

describe('a delta is suspect', () => {
  it.each([
    'e',
    'lace\n',
    '- A',
    'da Love',
    ' ',
    'x\nAda',
    'Lovelace, ',
    '@',
    'me: ada.',
    'see|(A',
    'Ada Lovelace',
  ])('if it inserts %j', (text) => {
    expect(isSuspect(inserting(`|${text}|`))).toBe(true);
  });

  it('if it repeats what it has copied', () => {
    const [first, again] = [copyInstruction(0, 100), copyInstruction(40, 20)];
    expect(isSuspect(Buffer.concat([deltaSize(1_000), deltaSize(120), first, again]))).toBe(true);
    const next = copyInstruction(100, 20);
    expect(isSuspect(Buffer.concat([deltaSize(1_000), deltaSize(120), first, next]))).toBe(false);
    const far = copyInstruction(0x1020304, 0x10000);
    expect(isSuspect(Buffer.concat([deltaSize(2 ** 25), deltaSize(0x20000), far, first]))).toBe(true);
    expect(isSuspect(Buffer.concat([deltaSize(2 ** 25), deltaSize(0x20000), first, far]))).toBe(false);
  });

  it.each(['return x;\n', 'more text\n', 'ix', '  if (so) ', '5', '\n', 'Lovely\n|Adam\n', ''])(
    'but not if it inserts %j',
    (text) => {
      expect(isSuspect(inserting(`|${text}|`))).toBe(false);
    },
  );

  it('whenever it makes a name that is in one piece neither in the base nor in the delta', () => {
    const piece = fc.constantFrom(
      'Ada Lovelace',
      'Ada',
      'Love',
      'lace',
      ' ',
      '\n',
      'ada.l@example.org',
      'ada.l@',
      'x, y\n',
    );
    const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const delta = makeDelta(Buffer.from(before), Buffer.from(after));
        // In one piece it is upstream's, whatever stands around it.
        const isUpstreams = /ada lovelace|ada\.l@example\.org/i.test(before);
        if (isUpstreams || !HAS_NAME.test(after)) return;
        // What is only left out may join what upstream has published in pieces.
        const used = vi.fn();
        readInserts(delta, used);
        if (used.mock.calls.length === 0) return;
        expect(isSuspect(delta)).toBe(true);
      }),
      runs(350),
    );
  });
});

describe('a name in what a delta inserts, copies written as |,', () => {
  it.each([
    '|by Ada Lovelace.|',
    '|Ada Lovelace|',
    'Ada Lovelace|',
    '|lovelace, ada',
    '|<ada.l@example.org|',
  ])('is found without what is copied in %j', (text) => {
    expect(lookAt(names, text)).toBe('found');
  });

  it.each(['- Ada L|', '|da Lovelace\n', '|a Lovela|', 'Lovelace, A|', '<ada.l@e|', '|e'])(
    'may go on in what is copied: %j',
    (text) => {
      expect(lookAt(names, text)).toBe('part');
    },
  );

  it('is shown with what stands around it in the same insert', () => {
    const { sightings = [] } = scanned(names, [inserting('|by Ada Lovelace, I|of|Ada Lovelace')]) ?? {};
    const shown = sightings.map(({ excerpt }) => Buffer.from(excerpt).toString());
    expect(shown).toEqual(['by Ada Lovelace, I', 'Ada Lovelace']);
  });
});

const judged = (pieces: readonly Uint8Array[]) => {
  const suspect = scanned(names, pieces);
  return suspect && { ...suspect, sightings: suspect.sightings.map(({ text }) => text) };
};

it('a delta is judged alike in any pieces', () => {
  const bytes = fc.stringMatching(/^[ADad Lovec\n]{0,200}$/).map((text) => Buffer.from(text));
  fc.assert(
    fc.property(bytes, bytes, fc.nat(999), (base, result, seed) => {
      const delta = makeDelta(base, result);
      expect(judged(randomPieces(delta, seed))).toEqual(judged([delta]));
    }),
    runs(70),
  );
});

describe('a name or login of one word', () => {
  const identities = ['Ada Lovelace <ada.l@example.org>', 'Lovelace <->', 'x-ada-lovelace <->'];
  const headers = identities.map((author) => ({
    content: Buffer.from(`author ${author} 1 +0000\ncommitter bot <bot@x.example> 1 +0000\n\n`),
    encoding: null,
  }));
  const withWords = new SearchedNames({ headers, originalIds: [], nobodys: ['bot', 'bot@x.example'] });

  it.each([
    ['|by Lovelace.|', ['by Lovelace.']],
    ['|by Lovelace|', ['by Lovelace']],
    ['Lovelace|', ['Lovelace']],
    ['|Lovel|', []],
    ['|Canadalovelace|', []],
    ['|\0 Lovelace|', []],
  ])('is only noted, and not looked for in copies: %j', (text, expected) => {
    const scan = new PackScan(namesOf('Lovelace <->'), () => null);
    scan.begin(OBJ_OFS_DELTA, 0, 0);
    scan.content(inserting(text));
    scan.end();
    expect(scan.suspects).toEqual([]);
    expect([...scan.words]).toEqual(expected);
  });

  it('keeps no full name from being found', () => {
    for (const text of ['by x-ada-lovelace', '|by Ada Lovelace|', '|ada lovelace|'])
      expect(lookAt(withWords, text), text).toBe('found');
    const insert = fc.stringMatching(/^(?:Ada|ada|Lovelace|Love|x-|-| |, |\||z){0,12}$/);
    fc.assert(
      fc.property(insert, (text) => {
        expect(lookAt(withWords, text)).toBe(lookAt(names, text));
      }),
      runs(350),
    );
  });

  it('is noted so often, and no more', () => {
    const scan = new PackScan(withWords, () => null);
    for (let file = 0; file < 2; file++) {
      scan.begin(OBJ_BLOB, 0, 0);
      for (let line = 0; line < 2_000; line++) scan.content(Buffer.from(`${file} ${line} by Lovelace\n`));
      scan.end();
    }
    expect(scan.words.size).toBe(1_000);
  });
});
