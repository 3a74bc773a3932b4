/**
 * Disks of a service that become full while it runs, and are freed again. A small file system is the real thing, where
 * a test may mount one. Everywhere else the process may not write a byte to any file (RLIMIT_FSIZE), which is worse: an
 * object that was reset cannot even be opened again.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestBed, TestBedOptions } from './test-bed.ts';

export interface FullDisk {
  readonly options: { readonly stateDir: string } & Pick<TestBedOptions, 'program'>;
  /** From now on, nothing new can be stored. */
  fill(bed: TestBed): void;
  free(bed: TestBed): void;
  /** When the service has ended. */
  remove(): void;
}

const SMALL = 'size=16m';

function smallFileSystem(): FullDisk {
  const stateDir = mkdtempSync(join(tmpdir(), 'gitveil-small-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', SMALL, 'tmpfs', stateDir], { stdio: 'ignore' });
  const filler = join(stateDir, 'filler');
  return {
    options: { stateDir },
    fill: () => fillWith(filler),
    free: () => rmSync(filler),
    remove() {
      execFileSync('umount', ['--lazy', stateDir]);
      rmSync(stateDir, { recursive: true });
    },
  };
}

/** Pages of a database have 4 KiB. */
function fillWith(path: string): void {
  const file = openSync(path, 'w');
  for (const bytes of [1024 * 1024, 4096])
    while (wasWritten(file, bytes));
  closeSync(file);
}

function wasWritten(file: number, bytes: number): boolean {
  try {
    return writeSync(file, Buffer.alloc(bytes, 1)) === bytes;
  } catch {
    return false;
  }
}

function limitedProcess(): FullDisk {
  const folder = mkdtempSync(join(tmpdir(), 'gitveil-limited-'));
  const [program, stateDir] = [join(folder, 'workerd'), join(folder, 'state')];
  const { default: workerd } = createRequire(import.meta.url)('workerd') as { default: string };
  // The signal of this limit would end it.
  writeFileSync(program, `#!/bin/sh\ntrap '' XFSZ\nexec '${workerd}' "$@"\n`);
  chmodSync(program, 0o755);
  const limit = ({ service: { workerdPid } }: TestBed, bytes: string): void =>
    void execFileSync('prlimit', ['--pid', String(workerdPid), `--fsize=${bytes}:`]);
  return {
    options: { stateDir, program },
    fill: (bed) => limit(bed, '1'),
    free: (bed) => limit(bed, 'unlimited'),
    remove: () => rmSync(folder, { recursive: true }),
  };
}

function mayMount(): boolean {
  try {
    smallFileSystem().remove();
    return true;
  } catch {
    return false;
  }
}

/** By what the test calls them. */
export const FULL_DISKS: readonly (readonly [name: string, make: () => FullDisk])[] = [
  ['that takes no byte', limitedProcess],
  ...(mayMount() ? ([['of 16 MB', smallFileSystem]] as const) : []),
];
