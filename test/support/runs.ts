/**
 * How many inputs a property gets: as many as it says in `npm test`, and many times that in `npm
 * run fuzz`, which sets the factor and counts the inputs. A failure names the seed and the path
 * that lead to it again.
 */
import * as fc from 'fast-check';
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    fuzz: { readonly factor: number; readonly seed: number | null };
  }
}

/** Begins the lines by which `npm run fuzz` counts. */
export const COUNT_MARK = 'fuzz-inputs';

export function runs<T>(numRuns: number): fc.Parameters<T> {
  const { factor } = inject('fuzz');
  if (factor === 1) return { numRuns };
  return {
    numRuns: numRuns * factor,
    reporter(details) {
      console.log(`${COUNT_MARK} ${details.numRuns}`);
      if (details.failed) throw new Error(fc.defaultReportMessage(details));
    },
  };
}
