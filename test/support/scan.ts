/** Runs a PackScanner over pieces and notes what it hands on. */
import type { KeptObject } from '../../src/git/pack/kept-objects.ts';
import { type KeptTypes, PackScanner } from '../../src/git/pack/pack-scanner.ts';

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
  keptTypes: KeptTypes = 'history',
): Scan {
  const kept: KeptObject[] = [];
  const passed: Buffer[] = [];
  const refDeltaBases: string[] = [];
  const scanner = new PackScanner(
    {
      onKept: (object) => kept.push(object),
      // A copy: the view is good only while its chunk is.
      onPassed: (bytes) => passed.push(Buffer.from(bytes)),
      onRefDelta: (base) => refDeltaBases.push(base),
    },
    maxKeptBytes === undefined ? {} : { maxBytes: maxKeptBytes },
    keptTypes,
  );
  for (const piece of pieces) {
    const chunk = Uint8Array.from(piece);
    scanner.scan(chunk);
    // As a reused buffer would be.
    chunk.fill(0xaa);
  }
  scanner.finish();
  return { kept, passed: Buffer.concat(passed), passedRuns: passed.length, refDeltaBases };
}
