/**
 * Simulates the distance between the service and its host: a relay in its own process that delays
 * every byte for half a round trip each way, and a new connection for whole ones: one for TCP, two
 * with TLS. It also counts what the host sends.
 */
import { createServer, connect, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { answerQuestions } from './helper.ts';

export interface Distance {
  readonly roundTripMs: number;
  /** Round trips until a new connection carries data. */
  readonly setUps: number;
}

let server: Server | null = null;
const sockets = new Set<Socket>();
let sentByHost = 0;

const actions = {
  /** Starts the relay, and answers its port. The host listens on `port`. */
  async start({ port, roundTripMs, setUps }: Distance & { port: number }): Promise<number> {
    server = createServer({ allowHalfOpen: true }, (client) => {
      const host = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
      host.setNoDelay(true);
      client.setNoDelay(true);
      const openedAt = performance.now() + setUps * roundTripMs;
      host.on('data', (chunk: Buffer) => (sentByHost += chunk.length));
      passOn(client, host, () => Math.max(0, openedAt - performance.now()) + roundTripMs / 2);
      passOn(host, client, () => roundTripMs / 2);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as { port: number }).port;
  },

  /** Answers the bytes that the host has sent so far. */
  async sentByHost(): Promise<number> {
    return sentByHost;
  },
};

export type RelayActions = typeof actions;

function passOn(from: Socket, to: Socket, delayMs: () => number): void {
  sockets.add(from);
  // Timers round to milliseconds and may overtake each other, so each one releases what has waited
  // longest.
  const waiting: (() => void)[] = [];
  const later = (act: () => void): void => {
    waiting.push(act);
    setTimeout(() => waiting.shift()?.(), delayMs());
  };
  from.on('data', (chunk: Buffer) => later(() => to.write(chunk)));
  from.on('end', () => later(() => to.end()));
  from.on('error', () => to.destroy());
  from.on('close', () => sockets.delete(from));
}

answerQuestions(actions, async () => {
  for (const socket of sockets) socket.destroy();
  server?.close();
});
