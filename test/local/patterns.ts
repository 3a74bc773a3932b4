/**
 * No regular expression of the service can be made to take more than linear time, because strangers
 * and code hosts choose what it reads. `recheck` proves that by automata, or attacks the
 * expression. It does so in a program of its own, where it has one for this machine: that takes a
 * third of the time of its JavaScript.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { check } from 'recheck';
import { expect, it } from 'vitest';
import { type Pattern, patternsOf } from './support/patterns.ts';

const SRC = join(import.meta.dirname, '../../src');
/** It takes a twentieth of that on a quiet machine, all of it work of the processor. */
const TIMEOUT_MS = 600_000;

/** Small attacks, always the same ones: what is quadratic is found by ten thousand characters. */
const ATTACK = {
  // Larger automata take seconds each, and an expression that needs one can be written otherwise.
  maxNFASize: 8_000,
  // More than all counts of an expression together.
  maxRepeatCount: 1_000,
  randomSeed: 1,
  timeout: TIMEOUT_MS,
  attackTimeout: null,
  incubationTimeout: null,
  attackLimit: 1_000_000,
  maxAttackStringSize: 20_000,
  maxIteration: 3,
  maxInitialGenerationSize: 100,
  maxGenerationSize: 30,
  crossoverSize: 10,
  mutationSize: 10,
};

/** Expressions that take longer, by their longest input and who chooses it. */
const ACCEPTED: Readonly<Record<string, string>> = {
  [String.raw`/\/\/[^,]*@/g`]: 'reads a variable of the operator’s own, in a message at the start',
};

/**
 * Finds large counts. What may be repeated so often may be repeated without an end, because a bound
 * of thousands bounds little. What must be repeated need be there once: each further copy makes the
 * automata larger, and can only remove ways through them.
 */
const LARGE_COUNT = /(?<!\\u)\{(?:(\d+),(?:\d{2,})?|[5-9]\d|\d{3,})\}/g;

/**
 * `recheck` has no automata for what looks ahead or behind. What is sticky starts at one place
 * alone.
 */
const isAttacked = ({ source, flags }: Pattern): boolean =>
  /\(\?<?[=!]/.test(source) || flags.includes('y') || source.startsWith(FILTER);
/**
 * It has the same sixteen words five times, and repeats nothing but digits: too large for automata.
 */
const FILTER = '^(?:(?:blob:none|';

async function isLinear(pattern: Pattern): Promise<boolean> {
  const source = pattern.source.replaceAll(LARGE_COUNT, (_, least) => (least === '0' ? '*' : '+'));
  const { status, checker } = await check(source, pattern.flags, ATTACK);
  return status === 'safe' && (checker === 'automaton' || isAttacked(pattern));
}

const written = ({ source, flags }: Pattern): string => `/${source}/${flags}`;

it(
  'every expression of the service takes linear time, or is accepted with its bound',
  async () => {
    const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    );
    const all = files.flatMap((file) => patternsOf(readFileSync(join(SRC, file), 'utf8')));
    const each = new Map(all.map((pattern) => [written(pattern), pattern]));
    const slow: string[] = [];
    for (const [name, pattern] of each) if (!(await isLinear(pattern))) slow.push(name);
    expect(slow).toEqual(Object.keys(ACCEPTED));
    expect(each.size).toBeGreaterThan(100);
  },
  TIMEOUT_MS,
);

it.each([
  [String.raw`/(?:\.git)?\/*$/`],
  [String.raw`/' of (.+?)(?=[;,] |$)/g`],
  [String.raw`/author [^<\n]{0,1000}</g`],
  [String.raw`/(?<=x)[ab]*[bc]*$/`],
  [String.raw`/\s+$/`],
  ["const A = '[ab]+'; new RegExp(`${A}${A}$`, 'u')"],
])('would find %s', async (code) => {
  expect(await Promise.all(patternsOf(code).map(isLinear))).toEqual([false]);
});

it('reads patterns wherever they stand, and refuses what it cannot read', () => {
  const code = String.raw`
    const NAME = '[a-z]';
    class A { readonly #x = [/a/g, { b: new RegExp(String.raw${'`\\d${NAME}`'}, 'i') }] }
    function f(x: string): boolean { return /b/.test(x) && RegExp(${'`^${NAME}{1,${3}}`'}).test(x); }`;
  expect(patternsOf(code).map(written)).toEqual(['/a/g', String.raw`/\d[a-z]/i`, '/b/', '/^[a-z]{1,3}/']);
  expect(() => patternsOf('const f = (x: string) => new RegExp(x);')).toThrow(/no constant/);
});
