/**
 * How many inputs a property gets: as many as it says in `npm test`, and many times that in `npm run fuzz`, which sets
 * the factor and counts the inputs. A failure names the seed and the path that lead to it again.
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
  const { factor, seed } = inject('fuzz');
  // The same inputs each time: what only a rare one finds, `npm run fuzz` finds, and nobody else's run fails for it.
  if (factor === 1) return { numRuns, seed: 1 };
  return {
    numRuns: numRuns * factor,
    ...(seed === null ? {} : { seed }),
    reporter(details) {
      console.log(`${COUNT_MARK} ${details.numRuns}`);
      if (details.failed) throw new Error(fc.defaultReportMessage(details));
    },
  };
}
