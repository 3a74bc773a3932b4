/**
 * Texts that cost far more to read than to send, if whoever reads them is careless. All:
 * test/leaks/search-cost.test.ts.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { contribute } from '../support/contribution.ts';
import { remoteLines } from '../support/push-output.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed();

/**
 * A size for which anything quadratic takes an hour. Commits that compress as well may have no
 * more.
 */
const LARGE = 1_000_000;

/** By how many MiB the service grows at most meanwhile. */
async function growthDuring(work: () => Promise<unknown>): Promise<number> {
  const ofService = `/proc/${bed.service.workerdPid}`;
  const peak = (): number =>
    Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`${ofService}/status`, 'utf8'))?.[1]) / 1024;
  writeFileSync(`${ofService}/clear_refs`, '5');
  const before = peak();
  await work();
  return peak() - before;
}

it(
  'a preview whose message is one line of megabytes shows ten findings in it, and keeps the line once',
  exhaustive,
  async () => {
    const { clone } = await contribute(bed);
    const id = `I${'0123456789'.repeat(4)} `;
    const commit = (ids: string) =>
      clone.commit({ message: `Mend it\n\n${ids}\u4e00${'x'.repeat(LARGE)}\n` });
    // What the first of such a size takes is not counted.
    await commit(id);
    await clone.push('-o', 'preview', 'origin', 'HEAD:topic');
    await clone.git('reset', '--quiet', '--hard', 'HEAD~');
    await commit(id.repeat(10));
    const grown = await growthDuring(async () => {
      const found = remoteLines(await clone.push('-o', 'preview', 'origin', 'HEAD:topic')).filter((line) =>
        line.startsWith('  message of "Mend it": '),
      );
      expect(found).toHaveLength(10);
      expect(Math.max(...found.map((line) => line.length))).toBeLessThan(200);
    });
    // As decoded text it has 2 MB, ten times as much if each finding keeps it.
    expect(grown).toBeLessThan(25);
  },
);

it(
  'a push whose commit has 1 MB of carriage returns in its header is taken for what it is',
  exhaustive,
  async () => {
    const { clone } = await contribute(bed);
    const tip = await clone.commitObject({
      tree: await clone.tree(),
      parents: [await clone.git('rev-parse', 'HEAD')],
      headers: [`x ${'\rauthor '.repeat(125_000)}`],
      message: 'Mend it\n',
    });
    const pushed = await clone.push('-o', 'preview', 'origin', `${tip}:refs/heads/topic`);
    expect(remoteLines(pushed)).toContain('This push would open a pull request:');
  },
);
