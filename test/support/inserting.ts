/** Deltas that go through their base from its beginning to its end, and insert texts in between. */
import { DeltaScan } from '../../src/git/search/delta-scan.ts';
import { type SearchedText, TextSearch } from '../../src/git/search/text-search.ts';
import { copyInstruction, deltaSize, insertInstructions } from './pack-builder.ts';

const COPIED = 100;

/** @param text in which `|` stands for what is copied; its ends are those of the object. */
export function inserting(text: string): Uint8Array {
  const inserts = text.split('|');
  const steps = inserts.flatMap((insert, index) => [
    ...(index === 0 ? [] : [copyInstruction((index - 1) * COPIED, COPIED)]),
    insertInstructions(Buffer.from(insert)),
  ]);
  const copied = (inserts.length - 1) * COPIED;
  const size = copied + Buffer.concat(inserts.map((insert) => Buffer.from(insert))).length;
  return Buffer.concat([deltaSize(copied), deltaSize(size), ...steps]);
}

export function scanned(texts: readonly SearchedText[], delta: Uint8Array): DeltaScan {
  const scan = new DeltaScan(new TextSearch(texts), () => false);
  scan.begin();
  scan.take(delta);
  scan.end();
  return scan;
}

/** Whether what a delta inserts is enough to tell, without what it copies. */
export const tellsOf = (texts: readonly SearchedText[], text: string): boolean =>
  scanned(texts, inserting(text)).telling.length > 0;
