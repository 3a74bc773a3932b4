/**
 * `node .ci/report.ts REPORT … [--again REPORT]`: what Vitest's JSON reports say of failed and of
 * skipped tests. Ends with 1 if one was skipped that is not expected here. The last line counts the
 * tests of all reports: a machine reads it.
 *
 * `node .ci/report.ts --failed REPORT …`: the files with tests that failed, one a line.
 */
import { readFileSync } from 'node:fs';
import { basename, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { executablePath } from '../test/browser/support/one-chromium.ts';
import { isInstalled } from '../test/support/is-installed.ts';

interface Expected {
  /** Its name, in whatever folder; undefined: any file of `folder`. */
  readonly file?: string;
  readonly folder?: string;
  /** Part of the test's full name. Default: all tests. */
  readonly title?: string;
  /** Why it is skipped. */
  readonly why: string;
  /** Whether that is so on this machine. */
  readonly isSo: boolean;
}

/** @param debianPackage the one that has the program; default: it has its name. */
function lacks(program: string, debianPackage = program) {
  return { why: `needs ${program}: apt-get install ${debianPackage}`, isSo: !isInstalled(program) };
}

export const EXPECTED: readonly Expected[] = [
  { file: 'readme.test.ts', title: 'with curl', ...lacks('curl') },
  { file: 'examples.test.ts', title: 'comment.sh comments', ...lacks('curl') },
  { file: 'examples.test.ts', title: 'comment.sh comments', ...lacks('jq') },
  { file: 'examples.test.ts', title: 'issue.sh opens', ...lacks('curl') },
  { file: 'examples.test.ts', title: 'issue.sh opens', ...lacks('jq') },
  { file: 'first-start.test.ts', title: 'has a page about the API', ...lacks('curl') },
  { file: 'proxy-logs.test.ts', title: 'nginx', ...lacks('nginx', 'nginx-light') },
  { file: 'proxy-logs.test.ts', title: 'Caddy', ...lacks('caddy') },
  { file: 'warning-wait-proxies.test.ts', title: 'nginx', ...lacks('nginx', 'nginx-light') },
  { file: 'warning-wait-proxies.test.ts', title: 'caddy', ...lacks('caddy') },
  { file: 'git-options.test.ts', title: 'git lfs', ...lacks('git-lfs') },
  { file: 'deploy-document.test.ts', title: 'the unit', ...lacks('systemd-analyze', 'systemd') },
  { file: 'deploy-document.test.ts', title: 'the backup', ...lacks('sqlite3') },
  { file: 'alerts.ts', title: 'are valid', ...lacks('promtool', 'prometheus') },
  {
    file: 'screenshots.test.ts',
    title: 'taken again',
    why: 'the pictures of the documents are taken with UPDATE_SCREENSHOTS=1',
    isSo: true,
  },
  {
    file: 'delayed-crowd.test.ts',
    title: 'the limits of GitHub',
    why: 'the limits of GitHub take three minutes: GITHUB_CROWD=1',
    isSo: true,
  },
  {
    file: 'state-dir.test.ts',
    title: 'is not a folder of someone else',
    why: 'root may write everywhere',
    isSo: process.getuid?.() === 0,
  },
  {
    folder: 'test/clients/',
    title: ': cannot, it pushes one ref at a time',
    why: 'isomorphic-git pushes one ref at a time',
    isSo: true,
  },
  {
    folder: 'test/browser/',
    why: 'needs Chromium: apt-get install chromium-headless-shell',
    isSo: executablePath === undefined,
  },
  { folder: 'test/forgejo/', why: 'there is no Gitea, and Go could not build it', isSo: true },
];

interface Test {
  readonly file: string;
  readonly title: string;
  readonly status: string;
  /** The first line of what it failed with. */
  readonly failure?: string | undefined;
}

/** @throws SyntaxError if the report was not written to its end. */
function testsIn(report: string): Test[] {
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
    testResults: {
      name: string;
      assertionResults: { fullName: string; status: string; failureMessages?: string[] }[];
    }[];
  };
  return testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ fullName, status, failureMessages }) => ({
      file: relative('', name),
      title: fullName,
      status,
      failure: failureMessages?.[0]?.split('\n')[0],
    })),
  );
}

const hasRun = ({ status }: Test): boolean => status === 'passed' || status === 'failed';

/** Leaves out the seed, of which each run may draw another. */
const nameOf = ({ file, title }: Test): string => `${file} › ${title.replace(/ \(seed \d+\)$/, '')}`;

/** Each once. What one suite leaves out another one may have run. */
function skippedOf(tests: readonly Test[]): Test[] {
  const ran = new Set(tests.filter(hasRun).map(nameOf));
  const others = tests.filter((test) => !ran.has(nameOf(test)));
  return [...new Map(others.map((test) => [nameOf(test), test])).values()];
}

/** Why a test is skipped on this machine, and what would run it; undefined: nobody expects that. */
export function whySkipped({ file, title }: Pick<Test, 'file' | 'title'>): string | undefined {
  return EXPECTED.find(
    (expected) =>
      expected.isSo &&
      (expected.file ?? basename(file)) === basename(file) &&
      file.startsWith(expected.folder ?? '') &&
      title.includes(expected.title ?? ''),
  )?.why;
}

function testsOf(reports: readonly string[]): Test[] {
  return reports.flatMap((report) => {
    try {
      return testsIn(report);
    } catch {
      console.log(`Not a report: ${report}`);
      process.exitCode = 1;
      return [];
    }
  });
}

function tellFailed(what: string, tests: readonly Test[]): void {
  for (const test of tests) {
    if (test.status !== 'failed') continue;
    console.log(`${what}: ${nameOf(test)}: ${test.failure ?? 'without a message'}`);
  }
}

function tellSkipped(tests: readonly Test[]): void {
  const skipped = Map.groupBy(skippedOf(tests), whySkipped);
  for (const [why, { length }] of skipped) {
    if (why !== undefined) console.log(`${length === 1 ? '1 test' : `${length} tests`} skipped: ${why}.`);
  }
  const unexpected = skipped.get(undefined) ?? [];
  for (const { file, title } of unexpected) console.log(`Skipped, and nobody expects it: ${file} › ${title}`);
  if (unexpected.length > 0) {
    console.log('If that is right, add it to EXPECTED in .ci/report.ts.');
    process.exitCode = 1;
  }
}

/** @param again of the files that were run once more, which says how their tests ended. */
function run(reports: readonly string[], again: readonly string[]): void {
  const first = testsOf(reports);
  const second = testsOf(again);
  const files = new Set(second.map(({ file }) => file));
  const once = first.filter(({ file }) => !files.has(file));
  tellFailed('Failed', once);
  tellFailed(
    'Failed at first',
    first.filter(({ file }) => files.has(file)),
  );
  tellFailed('Failed again', second);
  const tests = [...once, ...second];
  tellSkipped(tests);
  const count = (wanted: string): number => tests.filter(({ status }) => status === wanted).length;
  console.log(`${count('passed')} passed, ${count('failed')} failed`);
}

function filesWithFailures(reports: readonly string[]): Set<string> {
  const failed = testsOf(reports).filter(({ status }) => status === 'failed');
  return new Set(failed.map(({ file }) => file));
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { failed: { type: 'boolean' }, again: { type: 'string', multiple: true } },
  });
  if (values.failed === true) for (const file of filesWithFailures(positionals)) console.log(file);
  else run(positionals, values.again ?? []);
}
