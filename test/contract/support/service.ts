/**
 * Runs `npm start` as an operator does, with nothing but environment variables, and ends it again.
 * Most runs leave out npm, which takes half as long again, and run the command that package.json
 * has for it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { send } from './http.ts';

const CHECKOUT = join(import.meta.dirname, '../../..');
const { scripts } = JSON.parse(readFileSync(join(CHECKOUT, 'package.json'), 'utf8')) as {
  readonly scripts: { readonly start: string };
};
const START_LIMIT_MS = 60_000;
const LOOK_EVERY_MS = 25;
const DAY_MS = 24 * 60 * 60 * 1000;
/** Such as one that counts limits. */
const LONGEST_FILE_MS = 45_000;
const FIRST_PORT = 12_000;
/** Other tests have the ports behind them. */
const PORT_PAIRS = 4_000;

export type Variables = Readonly<Record<string, string>>;

export interface Running {
  readonly url: string;
  /** `127.0.0.1` and the port. */
  readonly authority: string;
  /** The address of the embedded code host, if there is one. */
  readonly hostUrl: string;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly stop: () => Promise<void>;
}

type Way = 'npm' | 'sh';

/** The output of a start that was to fail. */
export interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts it, and returns once it answers. */
export async function startService(variables: Variables | ((port: number) => Variables)): Promise<Running> {
  const port = await freePair();
  const own = typeof variables === 'function' ? variables(port) : variables;
  const program = run({ PORT: String(port), ...own });
  const url = `http://127.0.0.1:${port}`;
  await answers(url, program);
  return {
    url,
    authority: `127.0.0.1:${port}`,
    hostUrl: `http://127.0.0.1:${port + 1}`,
    stdout: () => program.output.stdout,
    stderr: () => program.output.stderr,
    stop: () => program.stop(),
  };
}

/** Runs a start that ends by itself. */
export async function failedStart(variables: Variables, by: Way = 'sh'): Promise<Ended> {
  const program = run({ PORT: String(await freePair()), ...variables }, by);
  const exitCode = await Promise.race([program.ended, after(START_LIMIT_MS)]);
  await program.stop();
  if (exitCode === LATE) throw new Error(`it has started: ${program.output.stdout}`);
  return { exitCode, ...program.output };
}

/** One service for all tests of a file. */
export function useService(variables: () => Variables | ((port: number) => Variables)): Running {
  let running: Running | null = null;
  beforeAll(async () => {
    await awayFromMidnight();
    running = await startService(variables());
  });
  afterAll(() => running?.stop());
  return new Proxy({} as Running, {
    get: (_, name) => {
      if (running === null) throw new Error('the service has not started yet');
      return Reflect.get(running, name) as unknown;
    },
  });
}

interface Program {
  readonly child: ChildProcess;
  readonly output: { stdout: string; stderr: string };
  readonly ended: Promise<number | null>;
  stop(): Promise<void>;
}

function run(variables: Variables, by: Way = 'sh'): Program {
  const state = mkdtempSync(join(tmpdir(), 'gitveil-contract-'));
  const own = ownEnvironment();
  // npm puts the packages' programs, among them Node.js, before others.
  const PATH = `${join(CHECKOUT, 'node_modules/.bin')}:${own['PATH']}`;
  const [program, args, env] =
    by === 'npm' ? ['npm', ['start', '--silent'], own] : ['/bin/sh', ['-c', scripts.start], { ...own, PATH }];
  const child = spawn(program, args, {
    cwd: CHECKOUT,
    env: { ...env, STATE_DIR: state, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', resolve);
  });
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await ended;
    rmSync(state, { recursive: true, force: true });
  };
  return { child, output, ended, stop };
}

/** The environment of a person's shell: without the programs that npm adds for this run. */
function ownEnvironment(): Variables {
  const { PATH = '', HOME = '', TMPDIR = tmpdir(), NODE_COMPILE_CACHE = '' } = process.env;
  const folders = PATH.split(':').filter((folder) => !folder.includes('node_modules'));
  return { PATH: folders.join(':'), HOME, TMPDIR, NODE_COMPILE_CACHE };
}

async function answers(url: string, program: Program): Promise<void> {
  let exitCode: number | null | undefined;
  void program.ended.then((code) => (exitCode = code));
  const deadline = Date.now() + START_LIMIT_MS;
  for (;;) {
    const status = await send(`${url}/health`).then(
      (answer) => answer.status,
      () => 0,
    );
    // The program prints its welcome once all of it runs.
    if (status === 200 && program.output.stdout.includes('gitveil is running')) return;
    if (exitCode !== undefined || Date.now() > deadline) {
      await program.stop();
      throw new Error(`no start (${exitCode}): ${program.output.stdout}${program.output.stderr}`);
    }
    await after(LOOK_EVERY_MS);
  }
}

/**
 * A day (UTC) that begins amidst a file of tests would give the clients their whole limits again.
 */
async function awayFromMidnight(): Promise<void> {
  const leftMs = DAY_MS - (Date.now() % DAY_MS);
  if (leftMs < LONGEST_FILE_MS) await after(leftMs + 100);
}

const LATE = 'late';

function after(ms: number): Promise<typeof LATE> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(LATE), ms);
  });
}

/**
 * A free port whose neighbour is free, too: the embedded code host listens there. Below those that
 * systems give to clients, because one of them could take it before the service listens; and of no
 * other test of this suite.
 */
async function freePair(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + 2 * randomInt(PORT_PAIRS);
    if ((await isNamedFirst(port)) && (await isFree(port)) && (await isFree(port + 1))) return port;
  }
}

/**
 * Whether no process that still runs has chosen it: each listens on a socket of that name, where a
 * system has such.
 */
function isNamedFirst(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code !== 'EADDRINUSE'));
    server.listen(`\0gitveil-port-${port}`, () => resolve(true)).unref();
  });
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => {
      server.close(() => resolve(true));
    });
  });
}
