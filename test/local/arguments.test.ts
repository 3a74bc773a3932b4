/**
 * Every command of package.json that is a program of the project: `--help`, and an argument that it
 * does not know.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from './programs.ts';
import { exhaustive } from '../support/exhaustive.ts';

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};

/** The programs, by the name of their command. */
const PROGRAMS = Object.entries(scripts).flatMap(([name, command]) => {
  const file = /^(?:exec )?node (\S+\.ts)$/.exec(command)?.[1];
  return file === undefined ? [] : [[name, file] as const];
});

const run = (file: string, ...words: string[]) =>
  spawnSync(process.execPath, [file, ...words], { cwd: ROOT, encoding: 'utf8', timeout: 60_000 });

it('knows all commands', () => {
  expect(PROGRAMS.map(([name]) => name)).toEqual(
    expect.arrayContaining(['start', 'build', 'deploy', 'bench']),
  );
});

// Both print the same usage, by readArguments: one of them is enough for each program.
describe.each(PROGRAMS)('npm run %s', exhaustive, (name, file) => {
  it('refuses an argument that it does not know, and prints how to use it', () => {
    const { status, stdout, stderr } = run(file, '--nonsense');
    const [reason, usage = ''] = stderr.split('\n\n');
    expect(reason).toBe("Unknown option '--nonsense'.");
    expect(usage).toMatch(new RegExp(String.raw`^Usage: npm (run )?(--silent )?${name}\b`));
    expect(stderr.split('\n').length).toBeLessThan(20);
    expect([status, stdout]).toEqual([2, '']);
  });
});

it('print how to use them, and do nothing else', () => {
  const { status, stdout, stderr } = run('local/deploy/deploy.ts', '--help', '--dry-run');
  expect(stdout).toMatch(/^Usage: npm run deploy \[/);
  expect(stdout).toContain('--secrets-file FILE');
  expect([status, stderr]).toEqual([0, '']);
});
