/** Whom a push is searched for. */
import { describe, expect, it, vi } from 'vitest';
import { MAX_SEARCHED_IDS } from '../../../src/git/search/searched-names.ts';
import { SearchedNames } from '../../../src/git/search/searched-names.ts';
import { commitContent, oidNumber, tagContent } from '../../support/objects.ts';

const committer = 'bot <bot@x.example> 1 +0000';
const nobodys = ['Bot', 'bot@X.example'];

/** @param authors the one who pushes first. */
const namesOf = (authors: readonly string[], originalIds: readonly string[] = []): SearchedNames =>
  new SearchedNames({
    headers: authors.map((author) => ({
      content: commitContent({ author: `${author} 1 +0000`, committer }),
      encoding: null,
    })),
    originalIds,
    nobodys,
  });

const isIn = (names: SearchedNames, text: string): boolean => names.spansIn(Buffer.from(text)).length > 0;

describe('the names to search for', () => {
  it('are those of authors and taggers, and not the bot’s', () => {
    const headers = [
      { content: commitContent({ author: 'Eve Adams <eve@x.example> 1 +0000', committer }), encoding: null },
      { content: tagContent('0'.repeat(40)), encoding: null },
    ];
    const names = new SearchedNames({ headers, originalIds: [], nobodys });
    const texts = ['Eve Adams', 'eve@x.example', 'Ada Lovelace', 'ada@example.org', 'bot@x.example'];
    expect(texts.map((text) => isIn(names, text))).toEqual([true, true, true, true, false]);
    expect(names.hasNames).toBe(true);
  });

  it('are first those of the one who pushes, if there are too many', () => {
    const others = Array.from({ length: 1_000 }, (_, at) => `Person Number${at} <person${at}@x.example>`);
    const names = namesOf(['Ada Lovelace <ada@x.example>', ...others]);
    expect(isIn(names, 'By Ada Lovelace')).toBe(true);
    expect(names.isComplete).toBe(false);
  });

  it('are found in a long list of all of them, of as many as there may be, with few states', () => {
    let state = 7;
    const random = (most: number): number => (state = (state * 48_271) % 0x7fffffff) % most;
    const word = (length: number): string =>
      Array.from({ length }, () => String.fromCharCode(0x61 + random(26))).join('');
    const people = Array.from({ length: 60 }, () => `${word(7)} ${word(9)} <${word(8)}@${word(6)}.example>`);
    const list = Array.from({ length: 20_000 }, () => `${people[random(60)]}\n`).join('');
    const names = namesOf(people);
    expect(names.isComplete).toBe(false);
    // Each state has a text as its key.
    const keys = vi.spyOn(BigInt.prototype, 'toString');
    expect(names.spansIn(Buffer.from(list)).length).toBeGreaterThan(10_000);
    expect(keys.mock.calls.length).toBeLessThan(3_000);
    keys.mockRestore();
  });

  it('may be none', () => {
    const names = namesOf([]);
    expect([names.hasNames, names.isComplete]).toEqual([false, true]);
    expect(isIn(names, '160000 ')).toBe(false);
  });

  it('may be ids alone, of which there may be too many', () => {
    const ids = Array.from({ length: MAX_SEARCHED_IDS + 1 }, (_, at) => oidNumber(at));
    const names = namesOf([], ids);
    expect([names.hasNames, names.hasAllIds]).toEqual([false, false]);
    expect(namesOf([], ids.slice(1)).hasAllIds).toBe(true);
    const [span] = names.spansIn(Buffer.from(`see ${ids[7]}`));
    expect(names.kindOf(span?.text ?? -1)).toBe('id');
    expect(isIn(names, `see ${ids.at(-1)}`)).toBe(false);
  });

  it('are searched for even if they are made of letters that are much alike', () => {
    const letters = Array.from({ length: 44 }, (_, at) => ((at * at) % 7 < 3 ? 'ø' : 'ÿ')).join('');
    const authors = Array.from(
      { length: 9 },
      (_, at) => `aaaaa ${letters.slice(at)}${letters.slice(0, at)} <a>`,
    );
    const names = namesOf(authors);
    expect(isIn(names, `by aaaaa ${letters}`)).toBe(true);
    expect(names.search.mostBytes).toBeLessThan(2.25 * 1024 * 1024);
  });

  it('take little for one person', () => {
    const names = namesOf(['Ada Lovelace <ada@x.example>'], [oidNumber(1)]);
    expect(names.search.mostBytes).toBeLessThan(400 * 1024);
    names.spansIn(Buffer.from('a text like any other, by Ada Lovelace\n'.repeat(99)));
    expect(names.search.bytes).toBeLessThan(64 * 1024);
  });
});
