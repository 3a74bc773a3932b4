/** Runs programs for tests without blocking: the code host under test answers from the same process. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

export interface RunResult {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly input?: string | Uint8Array;
}

/** This process's environment without what steers Git or tells who runs it. */
export function neutralEnvironment(extra: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const { PATH = '/usr/bin:/bin', TMPDIR } = process.env;
  return {
    PATH,
    ...(TMPDIR === undefined ? {} : { TMPDIR }),
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    ...extra,
  };
}

/** A name of a variable that a shell can set. */
const NAME = /^[A-Za-z_]\w*$/;
/** What a shell says of a program that is not there. */
const NOT_FOUND = 127;

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/**
 * A small shell that starts the programs. If this process did, fork(2) would copy its page tables, and afterwards each
 * page that is written to. Tests start more than ten thousand programs, and that was a fifth of their processor time.
 */
class Starter {
  readonly #shell: ChildProcessByStdio<Writable, Readable, null>;
  readonly #folder = mkdtempSync(join(tmpdir(), 'gitveil-run-'));
  readonly #running = new Map<number, (code: number) => void>();
  #count = 0;

  constructor() {
    this.#shell = spawn('/bin/sh', [], { cwd: '/', env: {}, stdio: ['pipe', 'pipe', 'inherit'] });
    createInterface(this.#shell.stdout).on('line', (line) => this.#end(line));
    // It ends with its input, also when this process is killed.
    this.#shell.stdin.write(`trap ${quoted(`/bin/rm -r ${quoted(this.#folder)}`)} EXIT\n`);
  }

  async run(program: string, args: readonly string[], { cwd, env, input }: RunOptions): Promise<RunResult> {
    const number = (this.#count += 1);
    const file = (end: string): string => join(this.#folder, `${number}.${end}`);
    if (input !== undefined) writeFileSync(file('in'), input);
    const variables = Object.entries(env).flatMap(([name, value]) =>
      value !== undefined && NAME.test(name) ? [`export ${name}=${quoted(value)}`] : [],
    );
    const command = ['exec', ...[program, ...args].map(quoted)].join(' ');
    const steps = [`cd ${quoted(cwd)}`, ...variables, command].join(' && ');
    const from = input === undefined ? '/dev/null' : quoted(file('in'));
    const to = `<${from} >${quoted(file('out'))} 2>${quoted(file('err'))}`;
    const code = await new Promise<number>((resolve) => {
      if (this.#running.size === 0) this.#keepAlive('ref');
      this.#running.set(number, resolve);
      // `jobs` collects those that have ended.
      this.#shell.stdin.write(`{ (${steps}) ${to}; echo ${number} $?; } &\njobs >/dev/null\n`);
    });
    const [stdout, stderr] = [readFileSync(file('out')), readFileSync(file('err'), 'utf8')];
    for (const end of ['in', 'out', 'err']) rmSync(file(end), { force: true });
    if (code === NOT_FOUND) throw Object.assign(new Error(stderr), { code: 'ENOENT' });
    return { code, stdout, stderr };
  }

  #end(line: string): void {
    const [number, code] = line.split(' ').map(Number) as [number, number];
    this.#running.get(number)?.(code);
    this.#running.delete(number);
    if (this.#running.size === 0) this.#keepAlive('unref');
  }

  /** Only what runs keeps this process from ending. */
  #keepAlive(how: 'ref' | 'unref'): void {
    this.#shell[how]();
    for (const stream of [this.#shell.stdin, this.#shell.stdout]) (stream as Socket)[how]();
  }
}

let starter: Starter | undefined;

export function run(program: string, args: readonly string[], options: RunOptions): Promise<RunResult> {
  starter ??= new Starter();
  return starter.run(program, args, options);
}

/** As `run`; rejects unless the program succeeds. */
export async function mustRun(
  program: string,
  args: readonly string[],
  options: RunOptions,
): Promise<Buffer> {
  const { code, stdout, stderr } = await run(program, args, options);
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} exited with ${code}: ${stderr}`);
  return stdout;
}
