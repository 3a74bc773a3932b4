/** Deltas that go through their base from its beginning to its end, and insert texts in between. */
import { OBJ_OFS_DELTA } from '../../src/git/pack/entry-header.ts';
import { PackScan, type Suspect } from '../../src/git/search/pack-scan.ts';
import type { SearchedNames } from '../../src/git/search/searched-names.ts';
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

/**
 * Takes the first look at a delta; null: nobody is named in what it makes.
 * @param pieces of the delta.
 */
export function scanned(names: SearchedNames, pieces: readonly Uint8Array[]): Suspect | null {
  const scan = new PackScan(names, () => null);
  scan.begin(OBJ_OFS_DELTA, 0, 0);
  for (const piece of pieces) scan.content(piece);
  scan.end();
  return scan.suspects[0] ?? null;
}

/**
 * `found`: a whole name, whatever is copied. `part`: perhaps, with what is copied. `nothing`:
 * surely not.
 */
export function lookAt(names: SearchedNames, text: string): 'found' | 'part' | 'nothing' {
  const suspect = scanned(names, [inserting(text)]);
  if (suspect === null) return 'nothing';
  return suspect.sightings.length > 0 ? 'found' : 'part';
}
