/** Starts programs of the project as a person would, and finds what they leave behind. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { claimPort } from '../../local/service.ts';

const ROOT = join(import.meta.dirname, '../..');

export interface Program {
  readonly child: ChildProcess;
  /** Everything written so far. */
  readonly output: { stdout: string; stderr: string };
  /** Resolves with the exit code once the program has ended and its output is complete. */
  readonly ended: Promise<number | null>;
}

/** Runs `npm start` with these variables, and none of the service's own that this process may have. */
export function npmStart(env: Readonly<Record<string, string>>): Program {
  const { PATH, HOME } = process.env;
  const child = spawn('npm', ['start', '--silent'], {
    cwd: ROOT,
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', resolve);
  });
  return { child, output, ended };
}

/** Waits until the program has written `text` to standard output; fails when it ends before. */
export async function untilPrinted(program: Program, text: string): Promise<void> {
  const over = program.ended.then((code) => {
    throw new Error(`ended with ${code}: ${program.output.stderr}`);
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

/** A free port whose neighbour is free too: the embedded code host listens there. */
export async function freePorts(): Promise<number> {
  for (;;) {
    const port = await claimPort('127.0.0.1', 0);
    const neighbour = await claimPort('127.0.0.1', port + 1).catch(() => null);
    if (neighbour !== null) return port;
  }
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

const parentOf = (pid: string): number => Number(statOf(pid)[1]);

/** The fields of /proc/<pid>/stat after the command: state, parent, … */
function statOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
  } catch {
    return [''];
  }
}
