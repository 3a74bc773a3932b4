/** Runs a PackScanner over pieces and notes what it hands on. */
import type { KeptObject } from '../../src/git/pack/kept-objects.ts';
import { PackScanner, type ScanOptions } from '../../src/git/pack/pack-scanner.ts';

export interface Scan {
  readonly kept: readonly KeptObject[];
  /** All passed bytes in a row. */
  readonly passed: Buffer;
  readonly passedRuns: number;
  readonly refDeltaBases: readonly string[];
}

/** Throws what the scanner throws. */
export function scan(
  pieces: readonly Uint8Array[],
  maxKeptBytes?: number,
  keeps: NonNullable<ScanOptions['keeps']> = 'history',
  arrived?: ScanOptions['arrived'],
): Scan {
  const kept: KeptObject[] = [];
  const passed: Buffer[] = [];
  const scanner = new PackScanner({
    keeps,
    ...(arrived && { arrived }),
    limits: maxKeptBytes === undefined ? {} : { maxBytes: maxKeptBytes },
    onKept: (object) => kept.push(object),
  });
  for (const piece of pieces) {
    const chunk = Uint8Array.from(piece);
    // Copies: a view is good only while its chunk is.
    for (const bytes of scanner.scan(chunk)) passed.push(Buffer.from(bytes));
    // As a reused buffer would be.
    chunk.fill(0xaa);
  }
  scanner.finish();
  const refDeltaBases = [...scanner.namedBases.oids()];
  return { kept, passed: Buffer.concat(passed), passedRuns: passed.length, refDeltaBases };
}
