/**
 * Order of the test files: those that wait longest begin first, so that no core waits for one of
 * them at the end. Vitest knows how long a file takes once it has run it, and begins with the
 * largest until then.
 */
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Seconds of one or two tests that are mostly waiting for another program. */
const LONGEST: ReadonlySet<string> = new Set([
  'test/local/deploy-again.test.ts',
  'test/e2e/host/traces.test.ts',
]);

const isLong = ({ moduleId }: TestSpecification): boolean => LONGEST.has(relative('', moduleId));

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line no-array-sort -- not an array's
    const usual = await super.sort(files);
    return [...usual.filter(isLong), ...usual.filter((file) => !isLong(file))];
  }
}
