/**
 * The table of `test/contract.md` and the tests name each other, and the suite stands on its own
 * feet.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const SUITE = 'test/contract';
/**
 * How a proof names a test: `<file>: <group> › <test>`, or by the path of a file that is not of the
 * suite.
 */
const PROOF = /^(?<file>[^\s:]+): (?<title>.+)$/;
/**
 * The beginning of a group or a test, and its title: the first text of the call, or of the call
 * behind a table.
 */
const BEGINNING = /^(?<indent> *)(?<what>describe|it|it\.each)\(/gm;
const TITLE = { call: /\(\s*(['"`])(.*?)\1,/sy, afterTable: /\)\(\s*(['"`])(.*?)\1,/gs };

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const files = readdirSync(join(ROOT, SUITE)).filter((name) => name.endsWith('.test.ts'));
const sections = read('test/contract.md').split(/^## /m).slice(1);
const rows = sections.flatMap((section) =>
  section
    .split('\n')
    .filter((line) => line.startsWith('| ') && !/^\| (?:Sentence|-+) /.test(line))
    .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()))
    .map(([, sentence = '', proofs = '']) => ({ sentence, proofs: proofs.split('<br>') })),
);
const named = rows.flatMap(({ proofs }) => proofs);

/** The tests of a file of the suite, each as a proof names it. */
function testsOf(file: string): string[] {
  const text = read(`${SUITE}/${file}`);
  const tests: string[] = [];
  let group = '';
  for (const { groups, index } of text.matchAll(BEGINNING)) {
    const { indent = '', what = '' } = groups ?? {};
    const title = what === 'it.each' ? TITLE.afterTable : TITLE.call;
    title.lastIndex = index + indent.length + what.length;
    const found = title.exec(text)?.[2] ?? '';
    if (what === 'describe') group = `${found} › `;
    else tests.push(`${file.replace('.test.ts', '')}: ${indent === '' ? '' : group}${found}`);
  }
  return tests;
}

const tests = files.filter((file) => file !== 'table.test.ts').flatMap(testsOf);

it('has a proof for every sentence', () => {
  expect(sections.length).toBeGreaterThanOrEqual(38);
  expect(
    rows.filter(({ sentence, proofs }) => sentence === '' || !proofs.every((proof) => PROOF.test(proof))),
  ).toEqual([]);
});

it('names tests that there are', () => {
  const missing = named.filter((proof) => {
    const { file = '', title = '' } = PROOF.exec(proof)?.groups ?? {};
    if (!file.includes('/')) return !tests.includes(proof);
    return !read(file).includes(`'${title}'`);
  });
  expect(missing).toEqual([]);
});

it('has every test of the suite', () => {
  expect(tests.filter((test) => !named.includes(test))).toEqual([]);
});

it('finds every test by a name of its own', () => {
  expect(tests).toEqual([...new Set(tests)]);
  expect(tests.filter((test) => /[:›] $/.test(test))).toEqual([]);
});

it('imports nothing of the service, nor of its other tests', () => {
  const all = [...files, ...readdirSync(join(ROOT, SUITE, 'support')).map((name) => `support/${name}`)];
  const foreign = all.flatMap((file) =>
    [...read(`${SUITE}/${file}`).matchAll(/^\S.* from '([^']+)';$/gm)]
      .map(([, from = '']) => from)
      .filter((from) => !/^(?:node:[a-z_/]+|vitest|\.\/(?:support\/)?[a-z-]+\.ts)$/.test(from))
      .map((from) => `${file}: ${from}`),
  );
  expect(foreign).toEqual([]);
});
