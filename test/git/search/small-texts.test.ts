/** Many small texts are searched as one, and each in which something is found is handed on. */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { textsWith } from '../../../src/git/search/small-texts.ts';
import { SAID_BY_PROGRAMS } from '../../../src/leaks/messages.ts';
import { MAY_HAVE_TRAILS } from '../../../src/leaks/trails.ts';
import { CountedMemory } from '../../support/counted-memory.ts';
import { runs } from '../../support/runs.ts';

const PATTERNS = [...SAID_BY_PROGRAMS, ...MAY_HAVE_TRAILS];
const ID = '0123456789abcdef0123';
const PARTS = [
  '\n',
  '\n\n',
  ' ',
  'Fix it',
  `Change-Id: I${ID}${ID}\n`,
  ID,
  `(${ID.slice(0, 7)} (It, 2024-01-31))`,
  "Merge branch 'mine'",
  'Date:  Mon Jan  1 00:00:00 2024',
  'On branch mine\n',
  'Untracked files:',
  'ada@macbook:~$ ls\n',
  '\u00e9\u00ff',
];
const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');

async function found(texts: readonly string[], memory = new CountedMemory()): Promise<string[]> {
  const all: string[] = [];
  for await (const text of textsWith(texts.map(bytes), PATTERNS, memory))
    all.push(Buffer.from(text).toString('latin1'));
  return all;
}

it('each text in which a pattern matches is found, whatever stands before and behind it', async () => {
  const text = fc.array(fc.constantFrom(...PARTS), { maxLength: 5 }).map((parts) => parts.join(''));
  await fc.assert(
    fc.asyncProperty(fc.array(text, { minLength: 2, maxLength: 30 }), async (texts) => {
      const wanted = texts.filter((each) => PATTERNS.some((pattern) => each.search(pattern) >= 0));
      // A line end behind a text may make it match; nothing is lost by that.
      const lines = new Set(
        texts.filter((each) => PATTERNS.some((pattern) => `${each}\n`.search(pattern) >= 0)),
      );
      const all = new Set(await found(texts));
      expect([...all].filter((each) => !lines.has(each))).toEqual([]);
      expect(wanted.filter((each) => !all.has(each))).toEqual([]);
    }),
    runs(200),
  );
});

it('the texts keep their order, and a large one is handed on unsearched', async () => {
  const large = 'x'.repeat(70_000);
  const merges = Array.from({ length: 3_000 }, (_, at) => (at % 3 === 0 ? "Merge branch 'a'" : `Fix ${at}`));
  const memory = new CountedMemory();
  const all = await found([...merges, large, "Merge branch 'b'", 'Fix'], memory);
  expect(all).toEqual([...merges.filter((_, at) => at % 3 === 0), large, "Merge branch 'b'"]);
  expect(memory.workedBytes).toBeGreaterThan(PATTERNS.length * 70_000);
});
