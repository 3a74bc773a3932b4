/**
 * `npm run bench`: measures the service, each figure compared with a reference from the same run.
 *
 * Exit code 1 only if something could not be measured. The table shows missed goals.
 */
import { writeFileSync } from 'node:fs';
import { readArguments } from '../local/arguments.ts';
import { browser } from './rows/browser.ts';
import { clone } from './rows/clone.ts';
import { cpu } from './rows/cpu.ts';
import { crowd } from './rows/crowd.ts';
import { distant } from './rows/distant.ts';
import { engine } from './rows/engine.ts';
import { growth } from './rows/growth.ts';
import { guesses } from './rows/guesses.ts';
import { delayed } from './rows/delayed.ts';
import { largePack } from './rows/large-pack.ts';
import { memory } from './rows/memory.ts';
import { oneCommit } from './rows/one-commit.ts';
import { patch } from './rows/patch.ts';
import { repositorySize } from './rows/repository-size.ts';
import { signatures } from './rows/signatures.ts';
import { texts } from './rows/texts.ts';
import { worst } from './rows/worst.ts';
import type { Row } from './support/figures.ts';
import { table } from './support/table.ts';
import { Workspace } from './support/workspace.ts';

const BENCHMARKS: Readonly<Record<string, (workspace: Workspace) => Promise<Row[]>>> = {
  'one-commit': oneCommit,
  cpu,
  distant,
  'repository-size': repositorySize,
  'large-pack': largePack,
  memory,
  patch,
  clone,
  browser,
  engine,
  growth,
  crowd,
  delayed,
  guesses,
  signatures,
  texts,
  worst,
};

const USAGE = `
Usage: npm run bench [-- [--only NAME ...] [--json FILE]]

Measures the service, each figure beside a reference from the same run.

  --only NAME   only this benchmark; may be repeated: ${Object.keys(BENCHMARKS).join(', ')}
  --json FILE   writes the rows into FILE, too
`;

function chosen(only: readonly string[]): readonly string[] {
  const names = Object.keys(BENCHMARKS);
  const unknown = only.find((name) => !names.includes(name));
  if (unknown === undefined) return only.length === 0 ? names : only;
  console.error(`There is no benchmark "${unknown}". There are: ${names.join(', ')}.`);
  process.exit(1);
}

async function run(): Promise<void> {
  const { values } = readArguments(USAGE, {
    only: { type: 'string', multiple: true, default: [] },
    json: { type: 'string' },
  });
  const names = chosen(values.only);
  const workspace = new Workspace();
  const rows: Row[] = [];
  for (const name of names) {
    const began = performance.now();
    process.stderr.write(`${name} ... `);
    rows.push(...((await BENCHMARKS[name]?.(workspace)) ?? []));
    process.stderr.write(`${((performance.now() - began) / 1000).toFixed(0)} s\n`);
  }
  console.log(table(rows));
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(rows, null, 2)}\n`);
}

await run();
