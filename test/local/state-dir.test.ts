/** STATE_DIR: what is wrong with a bad one is said in one line. `npm start`: start.test.ts. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stateDirProblem } from '../../local/runtime/state-dir.ts';

const IS_ROOT = process.getuid?.() === 0;

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gitveil-test-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const inFolder = (...names: string[]): string => join(folder, ...names);
const problemOf = (path: string): string | null => stateDirProblem(path, ['service', 'sandbox']);

describe('STATE_DIR', () => {
  it('is made with what belongs into it, and nothing else is left there', () => {
    expect(problemOf(inFolder('state'))).toBeNull();
    expect(readdirSync(inFolder('state'))).toEqual(['sandbox', 'service']);
    expect(readdirSync(inFolder('state', 'service'))).toEqual([]);
    expect(problemOf(inFolder('state'))).toBeNull();
  });

  it('may be a link to a folder', () => {
    mkdirSync(inFolder('real'));
    symlinkSync(inFolder('real'), inFolder('link'));
    expect(problemOf(inFolder('link'))).toBeNull();
  });

  it.each([
    ['a file', 'file', 'file is not a folder; '],
    ['below a file', 'file/state', 'file is not a folder; '],
    ['a link to nowhere', 'broken', 'broken '],
    ['below a missing folder', 'missing/state', 'missing does not exist; create it'],
    ['a folder with a file in the way', 'half', 'half/service is not a folder; '],
  ])('is not %s', (_, path, reason) => {
    writeFileSync(inFolder('file'), '');
    symlinkSync(inFolder('nowhere', 'at', 'all'), inFolder('broken'));
    mkdirSync(inFolder('half'));
    writeFileSync(inFolder('half', 'service'), '');
    const problem = problemOf(inFolder(path));
    expect(problem).toContain(`STATE_DIR is "${inFolder(path)}": `);
    expect(problem).toContain(inFolder(reason));
    expect(existsSync(inFolder('missing'))).toBe(false);
  });

  // Where not even root can make files.
  it.each(['/proc', '/proc/gitveil', '/proc/1/gitveil', '/sys/gitveil'])('is not %s', (path) => {
    expect(problemOf(path)).toMatch(
      /^STATE_DIR is "[^"]+": \S+ cannot be written \(E[A-Z]+\); set it to a folder/,
    );
  });

  it('is not on a disk that is full or read-only', ({ skip }) => {
    const state = inFolder('disk', 'state');
    mkdirSync(inFolder('disk'));
    for (const [options, reason] of [
      ['nr_inodes=1', `the disk of ${state} is full; free some room`],
      ['ro', `${state} cannot be written (EROFS); set it to a folder that this user can write to`],
    ] as const) {
      const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', inFolder('disk')]);
      // Without the right to mount, there is no such disk here.
      if (status !== 0) return skip();
      const problem = problemOf(state);
      spawnSync('umount', [inFolder('disk')]);
      expect(problem).toContain(reason);
    }
  });

  it.skipIf(IS_ROOT)('is not a folder of someone else', () => {
    mkdirSync(inFolder('state'));
    chmodSync(inFolder('state'), 0o555);
    expect(problemOf(inFolder('state'))).toContain(`${inFolder('state')} cannot be written (EACCES); `);
  });
});
