/**
 * Stands for `node:child_process` where tests start programs by the thousand: those with three
 * pipes are started by the fork server, all others as always.
 */
import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { ServerMessage, StartRequest } from './server.ts';

const real = process.getBuiltinModule('node:child_process');

export const { exec, execFile, execFileSync, execSync, fork, spawnSync } = real;

const SERVER = join(import.meta.dirname, 'server.ts');

/** Options with which a program on the fork server may be started. */
const SERVED = new Set(['cwd', 'env', 'detached', 'stdio']);

export function spawn(program: string, args: readonly string[], options: SpawnOptions = {}): ChildProcess {
  const { stdio = 'pipe', ...others } = options;
  const hasPipes = stdio === 'pipe' || (Array.isArray(stdio) && stdio.every((kind) => kind === 'pipe'));
  // Other systems copy nothing when they start a program.
  const isServed =
    process.platform === 'linux' && hasPipes && Object.keys(options).every((name) => SERVED.has(name));
  if (!isServed) return real.spawn(program, args, options);
  server ??= new ForkServer();
  return server.start({
    program,
    args,
    options: others as StartRequest['options'],
  }) as unknown as ChildProcess;
}

let server: ForkServer | null = null;

/**
 * As much of a ChildProcess as is used. Its streams are there before the program is, its `pid` is
 * not.
 */
class ServedProcess extends EventEmitter {
  pid: number | undefined;
  exitCode: number | null = null;
  signalCode: NodeJS.Signals | null = null;
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough();
  readonly stderr = new PassThrough();
  #toKillWith: NodeJS.Signals | null = null;
  #open = 3;

  constructor() {
    super();
    for (const stream of [this.stdout, this.stderr]) stream.once('end', () => this.#closeOne());
  }

  kill(signal: NodeJS.Signals = 'SIGTERM'): boolean {
    if (this.pid === undefined) this.#toKillWith = signal;
    else if (this.exitCode === null && this.signalCode === null) process.kill(this.pid, signal);
    return true;
  }

  hear(message: ServerMessage): void {
    if ('pid' in message) {
      this.pid = message.pid;
      this.emit('spawn');
      if (this.#toKillWith !== null) this.kill(this.#toKillWith);
    } else if ('error' in message) {
      this.emit('error', Object.assign(new Error(message.error.message), { code: message.error.code }));
    } else {
      this.exitCode = message.code;
      this.signalCode = message.signal;
      this.stdin.destroy();
      // As Node does: what nobody reads any more holds up no `close`.
      for (const output of [this.stdout, this.stderr]) output.resume();
      this.emit('exit', message.code, message.signal);
      this.#closeOne();
    }
  }

  #closeOne(): void {
    this.#open -= 1;
    if (this.#open === 0) this.emit('close', this.exitCode, this.signalCode);
  }
}

class ForkServer {
  /** An abstract socket: it leaves no file behind. */
  readonly #address = `\0gitveil-${randomUUID()}`;
  readonly #process = real.fork(SERVER, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], execArgv: [] });
  readonly #children = new Map<number, ServedProcess>();
  /**
   * Handlers of the next connections: the server makes three for each program, in the order of the
   * requests.
   */
  readonly #awaited: ((socket: Socket) => void)[] = [];
  #started = 0;

  constructor() {
    const listener = createServer((socket) => this.#awaited.shift()?.(socket));
    listener.listen(this.#address).unref();
    this.#process.on('message', (message: ServerMessage) => {
      this.#children.get(message.id)?.hear(message);
      if (!('pid' in message)) this.#children.delete(message.id);
    });
    this.#process.unref();
    this.#process.channel?.unref();
  }

  start(wanted: Omit<StartRequest, 'id' | 'address'>): ServedProcess {
    const child = new ServedProcess();
    const id = (this.#started += 1);
    this.#children.set(id, child);
    this.#awaited.push(
      (socket) => feed(socket, child.stdin),
      (socket) => collect(socket, child.stdout),
      (socket) => collect(socket, child.stderr),
    );
    this.#process.send({ id, address: this.#address, ...wanted } satisfies StartRequest);
    return child;
  }
}

function feed(socket: Socket, stdin: PassThrough): void {
  socket.on('error', (error) => stdin.destroy(error));
  // Its end is seen only by who reads.
  stdin.pipe(socket).resume();
}

function collect(socket: Socket, output: PassThrough): void {
  socket.on('error', () => output.end());
  socket.pipe(output);
}
