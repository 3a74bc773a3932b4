/** Vitest reporter whose last lines say what a run of tests has left out, and what would run it. */
import type { Reporter, TestCase, TestModule } from 'vitest/node';
import { relative } from 'node:path';
import { whySkipped } from '../../.ci/report.ts';

const isExhaustive = (test: TestCase): boolean => test.tags.includes('exhaustive');

export default class LeftOut implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = modules.flatMap((module) => [...module.children.allTests('skipped')]);
    const exhaustive = skipped.filter(isExhaustive);
    const others = skipped.filter((test) => !isExhaustive(test));
    const reasons = Map.groupBy(others, ({ module, fullName }) => {
      const file = relative('', module.moduleId);
      return whySkipped({ file, title: fullName }) ?? `see ${file}`;
    });
    const lines = [...reasons].map(([why, { length }]) => `Skipped on this machine: ${length} (${why}).`);
    if (exhaustive.length > 0) {
      lines.push(`Left out: ${exhaustive.length} exhaustive tests. To run them: npm run test:all`);
    }
    if (lines.length > 0) console.log(`\n${lines.join('\n')}\n`);
  }
}
