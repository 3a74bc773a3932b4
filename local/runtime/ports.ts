/**
 * Checks whether this machine can listen on an address, before workerd tries, because workerd's
 * error is hard to read.
 */
import { lookup } from 'node:dns/promises';
import { connect, createServer } from 'node:net';

/** A port of this machine on which nobody listens. If somebody does, it does not matter. */
const ANY_PORT = 1;
const TIMEOUT_MS = 1_000;

/**
 * Rejects with the system's error when nobody can listen there now.
 *
 * Binds the port like a client, without listening, so that no client mistakes this check for the
 * service.
 */
export async function tryPort(host: string, port: number): Promise<void> {
  const { address } = await lookup(host);
  const options = { host: address, port: ANY_PORT, localAddress: address, localPort: port };
  await new Promise<void>((done, fail) => {
    const socket = connect({ ...options, timeout: TIMEOUT_MS });
    const isBound = (): void => {
      socket.destroy();
      done();
    };
    socket.once('connect', isBound).once('timeout', isBound);
    socket.once('error', (error: NodeJS.ErrnoException) =>
      error.syscall === 'bind' ? fail(error) : isBound(),
    );
  });
}

/**
 * Listens on the port for a moment; 0 finds a free one. Answers the port, which is free again.
 * Rejects with the system's error.
 */
export function claimPort(host: string, port: number): Promise<number> {
  return new Promise((done, fail) => {
    const server = createServer();
    server.once('error', fail);
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address();
      server.close(() => done(typeof address === 'object' && address !== null ? address.port : port));
    });
  });
}

/** Steps in which a free port is looked for: the next one up is the embedded code host's. */
const STEP = 10;
const MOST_TRIED = 10;

/** Finds a free port that is easy to remember beside the one that is in use. */
async function freePortBeside(host: string, port: number): Promise<number> {
  for (let tried = 1; tried <= MOST_TRIED; tried++) {
    const other = port + tried * STEP;
    const isFree = await tryPort(host, other).then(
      () => true,
      () => false,
    );
    if (isFree) return other;
  }
  return claimPort(host, 0);
}

/**
 * Says why a service cannot listen, and the command that helps.
 * @param code the system's error code
 */
export async function whyNotListening(host: string, port: number, code: string | undefined): Promise<string> {
  if (code === 'EADDRINUSE') {
    const other = await freePortBeside(host, port);
    return `PORT is "${port}": that port is in use; stop what listens there, or run: PORT=${other} npm start`;
  }
  if (code === 'EACCES') {
    return `PORT is "${port}": ports below 1024 need privileges; run: PORT=8080 npm start`;
  }
  return `HOST is "${host}": this machine cannot listen there; set HOST to one of its addresses`;
}
