/** Starts programs of the project as a person would, and finds what they leave behind. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export { freePorts } from '../support/free-ports.ts';

export const ROOT = join(import.meta.dirname, '../..');

export interface Program {
  readonly child: ChildProcess;
  /** Everything written so far. In a terminal, both go to `stdout`. */
  readonly output: { stdout: string; stderr: string };
  /** Resolves with the exit code once the program has ended and its output is complete. */
  readonly ended: Promise<number | null>;
}

export interface Place {
  /** Default: the project's folder. */
  readonly cwd?: string;
  /** The only variables besides PATH and HOME. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Runs `npm start` with these variables, and none of the service's own that this process may have.
 */
export const npmStart = (place: Place): Program => started('npm', ['start', '--silent'], place);

/**
 * Starts what `npm start` runs, for tests that start it often: npm makes a start half as long
 * again.
 */
export const nodeStart = (place: Place): Program =>
  started(process.execPath, ['local/runtime/start.ts'], place);

function started(program: string, args: readonly string[], { cwd = ROOT, env }: Place): Program {
  const child = spawn(program, args, {
    cwd,
    env: { ...ownEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return observed(child);
}

/**
 * Runs a command line in the foreground of a terminal: what is written to its standard input is
 * typed there.
 */
export function inTerminal(commandLine: string, { cwd = ROOT, env }: Place): Program {
  const child = spawn('script', ['--quiet', '--return', '--flush', '--command', commandLine, '/dev/null'], {
    cwd,
    env: { ...ownEnvironment(), SHELL: '/bin/sh', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  return observed(child);
}

/** Presses Ctrl-C in the program's terminal, which asks all that runs in its foreground to end. */
export function pressCtrlC({ child }: Program): void {
  child.stdin?.write('\x03');
}

/**
 * Removes npm's spinner from what a terminal has shown: one character that is written, and erased
 * with its line.
 */
export function shownBy({ output }: Program): string {
  // eslint-disable-next-line no-control-regex
  return output.stdout.replaceAll('\r\n', '\n').replace(/[|/\\-]?(\x1b\[[\d;]*[A-Za-z])+/g, '');
}

/**
 * Makes the environment of a person's shell. The npm that runs these tests adds programs of the
 * project to its own, among them its Node.js. What Node.js has compiled is kept for other tests.
 */
export function ownEnvironment(): { PATH: string; HOME: string; NODE_COMPILE_CACHE: string } {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env;
  const folders = PATH.split(':').filter((folder) => !folder.includes('node_modules'));
  return { PATH: folders.join(':'), HOME, NODE_COMPILE_CACHE };
}

function observed(child: ChildProcess): Program {
  const output = { stdout: '', stderr: '' };
  child.stdout?.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', resolve);
  });
  return { child, output, ended };
}

/** Waits until the program has written `text` to standard output; fails when it ends before. */
export async function untilPrinted(program: Program, text: string): Promise<void> {
  const over = program.ended.then((code) => {
    throw new Error(`ended with ${code}: ${program.output.stdout}${program.output.stderr}`);
  });
  const printed = new Promise<void>((resolve) => {
    const look = (): void => {
      if (program.output.stdout.includes(text)) resolve();
    };
    program.child.stdout?.on('data', look);
    look();
  });
  await Promise.race([printed, over]);
}

/** Ids of all processes that descend from `pid`. */
export function descendantsOf(pid: number): number[] {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === pid)
    .map(Number);
  return children.concat(...children.map(descendantsOf));
}

/** Whether the process runs; one that has ended and only waits to be collected does not. */
export function isRunning(pid: number): boolean {
  return !['', 'Z', 'X'].includes(statOf(String(pid))[0] ?? '');
}

/** Its command line, arguments separated by spaces; empty when it has ended. */
export function commandLineOf(pid: number): string {
  return readProc(pid, 'cmdline').replaceAll('\0', ' ').trim();
}

/** Memory of the processes that is in RAM, in MiB; what two of them share counts twice. */
export function residentMiB(pids: readonly number[]): number {
  const sizes = pids.map((pid) => Number(/^VmRSS:\s+(\d+) kB$/m.exec(readProc(pid, 'status'))?.[1] ?? 0));
  return sizes.reduce((sum, kib) => sum + kib, 0) / 1024;
}

const parentOf = (pid: string): number => Number(statOf(pid)[1]);

/** The fields of /proc/<pid>/stat after the command: state, parent, … */
function statOf(pid: string): string[] {
  return readProc(pid, 'stat')
    .replace(/^.*\) /s, '')
    .split(' ');
}

function readProc(pid: number | string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
