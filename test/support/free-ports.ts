/**
 * Ports for programs that listen some time after a test has chosen where, or again where they have
 * listened before. Nobody else gets one in between: systems give none of these to connections, nor
 * to whoever asks for any port, and a name stands for each as long as the process of the test that
 * has it.
 */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { claimPort } from '../../local/runtime/ports.ts';

/** Below are those of test/contract. */
const FIRST = 20_000;
const FIRST_OF_SYSTEM = 32_768;

/** A free port whose neighbour is free too: the embedded code host listens there. */
export async function freePorts(): Promise<number> {
  for (;;) {
    const port = FIRST + 2 * randomInt((FIRST_OF_SYSTEM - FIRST) / 2);
    if (!(await isNamedFirst(port))) continue;
    const claims = [port, port + 1].map((each) => claimPort('127.0.0.1', each));
    if ((await Promise.allSettled(claims)).every(({ status }) => status === 'fulfilled')) return port;
  }
}

/**
 * An abstract socket: it leaves no file behind, and goes with this process. Elsewhere than on Linux
 * there are none.
 */
function isNamedFirst(port: number): Promise<boolean> {
  return new Promise((done) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => done(error.code !== 'EADDRINUSE'));
    server.listen(`\0gitveil-port-${port}`, () => done(true)).unref();
  });
}
