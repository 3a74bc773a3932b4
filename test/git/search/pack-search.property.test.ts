/** Packs of random deltas against a search of all that they make. */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  copyInstruction,
  deltaSize,
  type Entry,
  insertInstructions,
  oidOf,
} from '../../support/pack-builder.ts';
import { blob, NAME, namesOf, searched } from '../../support/pack-searching.ts';
import { runs } from '../../support/runs.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const AUTHOR = `${NAME} <ada.l@x.example>`;
const names = namesOf(AUTHOR);
const piece = fc.constantFrom(
  NAME,
  'Ada',
  ' Love',
  'lace',
  'Lovelace, Ada',
  ' ',
  '\n',
  'x, y\n',
  'ada.l',
  '@x.ex',
  'ample',
  'L',
  'e',
);
const text = fc.array(piece, { minLength: 1, maxLength: 12 }).map((pieces) => pieces.join(''));

interface Step {
  /** The text that is inserted; null: it copies. */
  readonly insert: string | null;
  /** In thousandths of the base. */
  readonly from: number;
  readonly to: number;
}
const step: fc.Arbitrary<Step> = fc.record({
  insert: fc.option(piece, { freq: 2 }),
  from: fc.nat(1_000),
  to: fc.nat(1_000),
});
const link = fc.constantFrom('whole', 'last', 'upstream', 'own id');
const object = fc.record({ whole: text, link, steps: fc.array(step, { minLength: 1, maxLength: 8 }) });

interface Segment {
  readonly start: number;
  readonly end: number;
  /** In the base; -1: inserted. */
  readonly offset: number;
}

function made(base: Buffer, steps: readonly Step[]) {
  const segments: Segment[] = [];
  const parts: Buffer[] = [];
  const instructions: Buffer[] = [];
  let start = 0;
  for (const { insert, from, to } of steps) {
    const [first, last] = [Math.min(from, to), Math.max(from, to)].map((at) =>
      Math.floor((at * base.length) / 1_000),
    ) as [number, number];
    const part = insert === null ? base.subarray(first, last) : Buffer.from(insert);
    if (part.length === 0) continue;
    segments.push({ start, end: start + part.length, offset: insert === null ? first : -1 });
    instructions.push(insert === null ? copyInstruction(first, part.length) : insertInstructions(part));
    parts.push(part);
    start += part.length;
  }
  const delta = Buffer.concat([deltaSize(base.length), deltaSize(start), ...instructions]);
  return { content: Buffer.concat(parts), delta, segments };
}

/**
 * How many hits there must be, and may be: what is only left out may join what upstream has in
 * pieces.
 */
function expected(content: Buffer, segments: readonly Segment[]): [must: number, may: number] {
  const copies = segments.filter(({ offset }) => offset >= 0);
  const isBackwards = copies.some(({ offset }, at) => {
    const before = copies[at - 1];
    return before !== undefined && offset < before.offset + before.end - before.start;
  });
  const added = names
    .spansIn(content)
    .filter((span) => !copies.some(({ start, end }) => start <= span.start && span.end <= end));
  const inserted = added.filter((span) =>
    segments.some(({ start, end, offset }) => offset < 0 && start < span.end && end > span.start),
  );
  return [(isBackwards ? added : inserted).length, added.length];
}

it(
  'every name that deltas put together is found, and nothing that stands in one piece in a base',
  exhaustive,
  async () => {
    await fc.assert(
      fc.asyncProperty(
        text,
        fc.array(object, { minLength: 1, maxLength: 6 }),
        fc.option(fc.nat(999)),
        async (upstream, objects, seed) => {
          const base = Buffer.from(upstream);
          const entries: Entry[] = [];
          const contents: Buffer[] = [];
          let [must, may] = [0, 0];
          const usesIds = objects.some((one) => one.link === 'own id');
          for (const { whole, link: kind, steps } of objects) {
            const last = contents.at(-1);
            if (kind === 'whole' || (kind !== 'upstream' && last === undefined)) {
              contents.push(Buffer.from(whole));
              entries.push(blob(whole));
              const count = names.spansIn(Buffer.from(whole)).length;
              [must, may] = [must + count, may + count];
              continue;
            }
            // Who names its own objects by ids names none of upstream.
            const isUpstreams = kind === 'upstream' && !usesIds;
            const from = isUpstreams ? base : (last ?? base);
            if (!isUpstreams && last === undefined) continue;
            const { content, delta, segments } = made(from, steps);
            if (isUpstreams || usesIds) entries.push({ type: 'ref-delta', base: oidOf('blob', from), delta });
            else entries.push({ type: 'ofs-delta', base: entries.length - 1, delta });
            contents.push(content);
            const [mustHere, mayHere] = expected(content, segments);
            [must, may] = [must + mustHere, may + mayHere];
          }
          const found = await searched(entries, { author: AUTHOR, bases: [base], seed, maxHits: 1_000 });
          expect(found.isComplete).toBe(true);
          expect(found.hits.length).toBeGreaterThanOrEqual(must);
          expect(found.hits.length).toBeLessThanOrEqual(may);
          // Without upstream, nothing is passed in silence.
          const alone = await searched(entries, { author: AUTHOR, seed, maxHits: 1_000 });
          expect(alone.hits.length > 0 || !alone.isComplete || must === 0).toBe(true);
        },
      ),
      runs(100),
    );
  },
);
