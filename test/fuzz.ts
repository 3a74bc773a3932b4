/**
 * `npm run fuzz`: the properties of the Git rooms, of texts and of the HTTP client, inside workerd,
 * with other inputs than `npm test` gives them, and many times as many.
 *
 * Prints the seed first and the number of inputs last. What it finds becomes a test of its own.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { readArguments } from '../local/arguments.ts';

const USAGE = `
Usage: npm run fuzz [-- [--factor N] [--seed N] [PATH ...]]

Runs the property tests with many more inputs than npm test.

  --factor N   N times as many (default: 300)
  --seed N     the same inputs again, as the first line of an earlier run names them
  PATH         only those below PATH, such as test/git/zlib
`;

const { values, positionals } = readArguments(
  USAGE,
  { factor: { type: 'string', default: '300' }, seed: { type: 'string' } },
  { allowPositionals: true },
);
const seed = values.seed ?? String(Math.floor(Math.random() * 0x7fffffff));
const paths = positionals.length > 0 ? positionals : ['test/git', 'test/push', 'test/text', 'test/outgoing'];
console.log(`seed ${seed}, factor ${values.factor}`);

const vitest = spawn(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', '--project', 'worker', ...paths],
  {
    env: { ...process.env, FUZZ_FACTOR: values.factor, FUZZ_SEED: seed },
    stdio: ['ignore', 'pipe', 'inherit'],
  },
);
let inputs = 0;
for await (const line of createInterface({ input: vitest.stdout })) {
  const count = /fuzz-inputs (\d+)/.exec(line)?.[1];
  if (count === undefined) {
    if (!line.includes('stdout') && line.trim() !== '') console.log(line);
  } else inputs += Number(count);
}
const [code] =
  vitest.exitCode === null ? ((await once(vitest, 'exit')) as [number | null]) : [vitest.exitCode];
console.log(`${inputs} inputs with seed ${seed}`);
process.exitCode = code ?? 1;
