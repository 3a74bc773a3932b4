/** Every command of package.json that is a program of the project: `--help`, and an argument that it does not know. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from './programs.ts';

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

describe.each(PROGRAMS)('npm run %s', (name, file) => {
  it('prints how to use it, and does nothing else', () => {
    const { status, stdout, stderr } = run(file, '--help');
    expect(stdout).toMatch(new RegExp(String.raw`^Usage: npm (run )?(--silent )?${name}\b`));
    expect(stdout.split('\n').length).toBeLessThan(20);
    expect([status, stderr]).toEqual([0, '']);
  });

  it('refuses an argument that it does not know', () => {
    const { status, stdout, stderr } = run(file, '--nonsense');
    expect(stderr).toMatch(/^Unknown option '--nonsense'\.\n\nUsage: npm /);
    expect([status, stdout]).toEqual([2, '']);
  });
});
