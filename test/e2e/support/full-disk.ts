/**
 * Disks of a service that become full while it runs, and are freed again. A small file system is
 * the real thing, where a test may mount one. Everywhere else the process may not write a byte to
 * any file (RLIMIT_FSIZE), which is worse: an object that was reset cannot even be opened again.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestBed, TestBedOptions } from './test-bed.ts';

/** A file system that the service can be started on when nobody may write to it any more. */
export interface ReadOnlyDisk {
  readonly stateDir: string;
  /** While the service does not run. */
  turn(to: 'ro' | 'rw'): void;
  remove(): void;
}

export interface FullDisk {
  readonly options: { readonly stateDir: string } & Pick<TestBedOptions, 'program'>;
  /** From now on, nothing new can be stored. */
  fill(bed: TestBed): void;
  free(bed: TestBed): void;
  /** When the service has ended. */
  remove(): void;
}

function fileSystem(): ReadOnlyDisk {
  const stateDir = mkdtempSync(join(tmpdir(), 'gitveil-small-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', stateDir], { stdio: 'ignore' });
  return {
    stateDir,
    turn: (to) => void execFileSync('mount', ['-o', `remount,${to}`, stateDir]),
    remove() {
      execFileSync('umount', ['--lazy', stateDir]);
      rmSync(stateDir, { recursive: true });
    },
  };
}

function smallFileSystem(): FullDisk {
  const disk = fileSystem();
  const filler = join(disk.stateDir, 'filler');
  return {
    options: { stateDir: disk.stateDir },
    fill: () => fillWith(filler),
    free: () => rmSync(filler),
    remove: () => disk.remove(),
  };
}

/** Pages of a database have 4 KiB. */
function fillWith(path: string): void {
  const file = openSync(path, 'w');
  for (const bytes of [1024 * 1024, 4096]) while (wasWritten(file, bytes));
  closeSync(file);
}

function wasWritten(file: number, bytes: number): boolean {
  try {
    return writeSync(file, Buffer.alloc(bytes, 1)) === bytes;
  } catch {
    return false;
  }
}

/** @param bytes that no file may exceed. */
function limit({ service: { workerdPid } }: TestBed, bytes: string): void {
  execFileSync('prlimit', ['--pid', String(workerdPid), `--fsize=${bytes}:`]);
}

function limitedProcess(): FullDisk {
  const folder = mkdtempSync(join(tmpdir(), 'gitveil-limited-'));
  const [program, stateDir] = [join(folder, 'workerd'), join(folder, 'state')];
  const { default: workerd } = createRequire(import.meta.url)('workerd') as { default: string };
  // The signal of this limit would end it.
  writeFileSync(program, `#!/bin/sh\ntrap '' XFSZ\nexec '${workerd}' "$@"\n`);
  chmodSync(program, 0o755);
  return {
    options: { stateDir, program },
    fill: (bed) => limit(bed, '1'),
    free: (bed) => limit(bed, 'unlimited'),
    remove: () => rmSync(folder, { recursive: true }),
  };
}

const mayMount = (() => {
  try {
    fileSystem().remove();
    return true;
  } catch {
    return false;
  }
})();

/** By what the test calls them. */
export const FULL_DISKS: readonly (readonly [name: string, make: () => FullDisk])[] = [
  // Other systems cannot limit a process that runs.
  ...(process.platform === 'linux' ? ([['that takes no byte', limitedProcess]] as const) : []),
  ...(mayMount ? ([['of 16 MB', smallFileSystem]] as const) : []),
];

export const READ_ONLY_DISKS: readonly (() => ReadOnlyDisk)[] = mayMount ? [fileSystem] : [];
