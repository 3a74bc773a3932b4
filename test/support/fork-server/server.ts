/**
 * A small process that starts programs for a large one: fork(2) copies the page tables of the
 * process that calls it, which takes one of 200 MB five milliseconds. Each program's standard
 * streams are sockets, connected to the large process.
 */
import { spawn } from 'node:child_process';
import { connect } from 'node:net';

/**
 * A program to start; `address` is the socket on which the large process expects stdin, stdout and
 * stderr, in this order.
 */
export interface StartRequest {
  readonly id: number;
  readonly address: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv; readonly detached?: boolean };
}

export type ServerMessage =
  | { readonly id: number; readonly pid: number }
  | { readonly id: number; readonly code: number | null; readonly signal: NodeJS.Signals | null }
  | { readonly id: number; readonly error: { readonly message: string; readonly code: string } };

const tell = (message: ServerMessage): void => void process.send?.(message);

process.on('message', ({ id, address, program, args, options }: StartRequest) => {
  // Connecting to a socket of the same machine is done when `connect` returns, so that the streams
  // arrive in order.
  const streams = [connect(address), connect(address), connect(address)] as const;
  const child = spawn(program, args, { ...options, stdio: [...streams] });
  // The program has copies of its own, and ends its streams by ending.
  for (const stream of streams) stream.destroy();
  child.once('error', (error: NodeJS.ErrnoException) => {
    tell({ id, error: { message: error.message, code: error.code ?? '' } });
  });
  if (child.pid === undefined) return;
  tell({ id, pid: child.pid });
  child.once('exit', (code, signal) => tell({ id, code, signal }));
});

process.once('disconnect', () => process.exit());
