/**
 * Runs one workerd process: starts it with a configuration, waits until all its sockets are open,
 * and kills it at the end.
 *
 * workerd writes the logs of its Workers and its own messages as lines of JSON to its standard
 * output.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

export interface WorkerdCommand {
  /** The program's path. */
  readonly program: string;
  /** Folder of the files that the configuration embeds by an absolute path. */
  readonly importPath: string;
}

export interface WorkerdOptions extends WorkerdCommand {
  /** The configuration's path. */
  readonly config: string;
  /**
   * Addresses to listen on, by the names of the configuration's sockets: `127.0.0.1:8080` or
   * `unix:<path>`.
   */
  readonly sockets: Readonly<Record<string, string>>;
  /** Added to this process's own environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly onLog: (entry: LogEntry) => void;
}

export interface LogEntry {
  /** `log` if a Worker wrote the message with console.log. */
  readonly level: string;
  readonly message: string;
}

export interface Workerd {
  readonly pid: number;
  /** Resolves when the process has ended, by `kill` or by itself. */
  readonly ended: Promise<Ending>;
  /** Ends the process. Everything that its Workers have confirmed is already on disk. */
  kill(): Promise<void>;
}

export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The process ended before it was ready. */
export class WorkerdFailure extends Error {
  readonly ending: Ending;
  /** Whether somebody else listens on the address of a socket. */
  readonly isAddressTaken: boolean;

  constructor(ending: Ending, log: readonly LogEntry[]) {
    const messages = log.map(({ message }) => message).join('\n');
    super(`workerd ended with ${ending.signal ?? ending.code}: ${messages}`);
    this.ending = ending;
    this.isAddressTaken = messages.includes('Address already in use');
  }
}

/**
 * Starts workerd, and returns once it listens. Rejects with a `WorkerdFailure` if it ends before.
 */
export async function startWorkerd(options: WorkerdOptions): Promise<Workerd> {
  const { program, importPath, config, sockets } = options;
  const addresses = Object.entries(sockets).map(([name, address]) => `--socket-addr=${name}=${address}`);
  // The stand-ins for D1, KV and the cache use experimental features.
  const args = ['serve', '--experimental', `--import-path=${importPath}`, '--control-fd=3', ...addresses];
  const child = spawn(program, [...args, config], {
    env: { ...process.env, TZ: 'UTC', ...options.env },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const dismissGuard = guardOf(child);
  const ended = new Promise<Ending>((resolve, reject) => {
    child.once('error', (error) => void dismissGuard().then(() => reject(error)));
    child.once('close', (code, signal) => void dismissGuard().then(() => resolve({ code, signal })));
  });
  // The error contains the reason why it could not start.
  const early: LogEntry[] = [];
  let onLog = (entry: LogEntry): unknown => early.push(entry);
  readLog(child, (entry) => onLog(entry));
  await Promise.race([
    allListening(child.stdio[3] as Readable, Object.keys(sockets).length),
    ended.then((ending) => {
      throw new WorkerdFailure(ending, early);
    }),
  ]);
  onLog = options.onLog;
  for (const entry of early) onLog(entry);
  return {
    pid: child.pid as number,
    ended,
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/**
 * Starts a guard that kills workerd if this process dies, also by `kill -9`. Otherwise workerd
 * would go on alone, and keep the port and the state. The guard waits for the end of its input,
 * which comes when nobody can write there any more.
 * @returns a function that ends the guard. It resolves once the guard is gone: after execve(2),
 * nobody would collect it.
 */
function guardOf({ pid }: ChildProcess): () => Promise<void> {
  const wait = 'trap "" INT TERM HUP; read -r _; kill -9 "$1"';
  const guard = spawn('/bin/sh', ['-c', wait, 'sh', String(pid)], { stdio: ['pipe', 'ignore', 'ignore'] });
  const gone = new Promise<void>((resolve) => {
    for (const end of ['error', 'exit']) guard.once(end, () => resolve());
  });
  guard.unref();
  return () => {
    guard.ref();
    guard.kill('SIGKILL');
    return gone;
  };
}

/** Waits for one line of JSON for each socket that has been opened. */
async function allListening(control: Readable, count: number): Promise<void> {
  let left = count;
  for await (const line of createInterface(control)) {
    if ((JSON.parse(line) as { event: string }).event === 'listen') left -= 1;
    if (left === 0) return;
  }
  // If it ends without listening, its end reports that.
  await new Promise<never>(() => {});
}

function readLog(child: ChildProcess, onLog: (entry: LogEntry) => void): void {
  for (const stream of [child.stdout, child.stderr]) {
    createInterface(stream as Readable).on('line', (line) => onLog(parseLine(line)));
  }
}

function parseLine(line: string): LogEntry {
  try {
    const { level, message } = JSON.parse(line) as Partial<LogEntry>;
    if (typeof level === 'string' && typeof message === 'string') return { level, message };
  } catch {
    // The last words of a crash are plain text.
  }
  return { level: 'error', message: line };
}
