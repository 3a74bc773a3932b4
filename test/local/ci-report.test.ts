/** .ci/report.ts, by which .ci/run fails on a skip that nobody expects. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EXPECTED } from '../../.ci/report.ts';
import { ROOT } from './programs.ts';
import { exhaustive } from '../support/exhaustive.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gitveil-report-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

type Status = 'passed' | 'failed' | 'skipped' | 'pending' | 'todo';

/** Answers the path of a report as Vitest writes it. */
function report(
  name: string,
  tests: readonly (readonly [file: string, title: string, status: Status])[],
): string {
  const path = join(folder, name);
  const testResults = tests.map(([file, fullName, status]) => ({
    name: join(ROOT, file),
    assertionResults: [
      { fullName, status, failureMessages: status === 'failed' ? ['Error: 1 is not 2\n    at x.ts'] : [] },
    ],
  }));
  writeFileSync(path, JSON.stringify({ testResults }));
  return path;
}

/** @param programs which the machine has, and no others. */
function run(reports: readonly string[], programs: readonly string[] = []) {
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  for (const program of programs) {
    writeFileSync(join(bin, program), '');
    chmodSync(join(bin, program), 0o755);
  }
  const args = [join(ROOT, '.ci/report.ts'), ...reports];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    env: { PATH: bin },
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  return { status, lines: stdout.trimEnd().split('\n') };
}

const CURL = 'comments and opens an issue with curl';

it('counts the tests of all reports in its last line', exhaustive, () => {
  const reports = [
    report('a.json', [
      ['test/a.test.ts', 'one', 'passed'],
      ['test/a.test.ts', 'two', 'passed'],
    ]),
    report('b.json', [['test/b.test.ts', 'three', 'failed']]),
  ];
  expect(run(reports)).toEqual({
    status: 0,
    lines: ['Failed: test/b.test.ts › three: Error: 1 is not 2', '2 passed, 1 failed'],
  });
  expect(run([])).toEqual({ status: 0, lines: ['0 passed, 0 failed'] });
});

it('names the files with tests that failed, and tells how they ended when they were run again', () => {
  const first = report('a.json', [
    ['test/a.test.ts', 'one', 'failed'],
    ['test/b.test.ts', 'two', 'failed'],
    ['test/c.test.ts', 'three', 'passed'],
  ]);
  expect(run(['--failed', first]).lines).toEqual(['test/a.test.ts', 'test/b.test.ts']);
  const second = report('again', [
    ['test/a.test.ts', 'one', 'passed'],
    ['test/b.test.ts', 'two', 'failed'],
  ]);
  expect(run([first, '--again', second]).lines).toEqual([
    'Failed at first: test/a.test.ts › one: Error: 1 is not 2',
    'Failed at first: test/b.test.ts › two: Error: 1 is not 2',
    'Failed again: test/b.test.ts › two: Error: 1 is not 2',
    '2 passed, 1 failed',
  ]);
});

it('takes a test as run if one of the reports has run it', exhaustive, () => {
  const test = ['test/git/bytes.test.ts', 'bytes are equal'] as const;
  const reports = (['skipped', 'passed', 'pending'] as const).map((status, index) =>
    report(`${index}.json`, [[...test, status]]),
  );
  expect(run(reports)).toEqual({ status: 0, lines: ['1 passed, 0 failed'] });
});

it.each(['skipped', 'pending', 'todo'] as const)(
  'fails on a test that is %s if nobody expects that',
  exhaustive,
  (status) => {
    const found = run([report('a.json', [['test/git/bytes.test.ts', 'bytes are equal', status]])]);
    expect(found.status).toBe(1);
    expect(found.lines).toEqual([
      'Skipped, and nobody expects it: test/git/bytes.test.ts › bytes are equal',
      'If that is right, add it to EXPECTED in .ci/report.ts.',
      '0 passed, 0 failed',
    ]);
  },
);

describe('a test that needs a program', exhaustive, () => {
  const tests = [
    ['test/e2e/readme.test.ts', CURL, 'skipped'],
    [
      'test/local/first-start.test.ts',
      'a start has a page about the API that begins with a command',
      'skipped',
    ],
  ] as const;

  it('may be skipped without it, which is said once', () => {
    expect(run([report('a.json', tests)])).toEqual({
      status: 0,
      lines: ['2 tests skipped: needs curl: apt-get install curl.', '0 passed, 0 failed'],
    });
  });

  it('may not with it', () => {
    const { status, lines } = run([report('a.json', tests)], ['curl']);
    expect(status).toBe(1);
    expect(lines[0]).toBe(`Skipped, and nobody expects it: test/e2e/readme.test.ts › ${CURL}`);
  });

  it('is looked for wherever its file has moved', () => {
    const [, ...rest] = tests[0];
    expect(run([report('a.json', [['test/e2e/people/readme.test.ts', ...rest]])]).status).toBe(0);
  });
});

it('says why a test is never run here, and does not mind if it did', exhaustive, () => {
  const test = ['test/browser/screenshots.test.ts', 'taken again in a browser a pull request'] as const;
  expect(run([report('a.json', [[...test, 'pending']])]).lines[0]).toMatch(
    /^1 test skipped: .*UPDATE_SCREENSHOTS/,
  );
  expect(run([report('a.json', [[...test, 'passed']])]).lines).toEqual(['1 passed, 0 failed']);
});

it('fails on a report that is no report', exhaustive, () => {
  const path = join(folder, 'half.json');
  writeFileSync(path, '{"testResults": [');
  expect(run([path])).toEqual({ status: 1, lines: [`Not a report: ${path}`, '0 passed, 0 failed'] });
});

const files = new Map(
  readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => [basename(name), join(ROOT, 'test', name)]),
);

it.each(EXPECTED.filter(({ file }) => file !== undefined))(
  'expects a test that there is: $file › $title',
  (expected) => {
    const text = readFileSync(files.get(expected.file ?? '') ?? '', 'utf8');
    expect(expected.title?.split(' ').filter((word) => !text.includes(word))).toEqual([]);
  },
);
