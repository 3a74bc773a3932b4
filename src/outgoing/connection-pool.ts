/**
 * The connections of one request, or of one Durable Object: others cannot use its sockets. More
 * requests wait.
 */
import { connect } from 'cloudflare:sockets';
import { Connection, type SocketLike } from './connection.ts';
import { OutgoingError } from './outgoing-error.ts';

/**
 * Cloudflare allows six for a request and counts every open socket. The sixth is left to KV and the
 * cache.
 */
export const MAX_OPEN = 5;
/** Free connections that are kept. More of them could make KV wait. */
const MAX_IDLE = 3;
/** Below the five seconds after which Node's servers close idle connections. */
export const IDLE_TIMEOUT_MS = 4_000;
export const CONNECT_TIMEOUT_MS = 10_000;

/** @param isSecure with TLS, and the certificate checked for this name. */
export type OpenSocket = (address: { hostname: string; port: number }, isSecure: boolean) => SocketLike;

export const openSocket: OpenSocket = (address, isSecure) =>
  connect(address, { secureTransport: isSecure ? 'on' : 'off', allowHalfOpen: false });

interface WantedConnection {
  readonly url: URL;
  readonly signal: AbortSignal | null;
  /** One that has carried nothing yet, and so cannot have been closed by the server meanwhile. */
  readonly isNew: boolean;
}

export class ConnectionPool {
  readonly #openSocket: OpenSocket;
  /** Least recently used first, each with the timer that closes it. */
  readonly #idle = new Map<Connection, ReturnType<typeof setTimeout>>();
  /** Free ones that have carried nothing yet, kept for a request that needs such a one. */
  readonly #unused = new WeakSet<Connection>();
  /** Connections that are being opened ahead, by their target. */
  readonly #coming = new Map<string, Promise<void>>();
  readonly #waiting = new Set<() => void>();
  #openCount = 0;

  constructor(open: OpenSocket) {
    this.#openSocket = open;
  }

  /**
   * A connection for one exchange, to be given back.
   * @throws OutgoingError, or the reason of the signal.
   */
  async take(wanted: WantedConnection): Promise<{ connection: Connection; isNew: boolean }> {
    const { url, signal } = wanted;
    const purpose = purposeOf(wanted);
    for (;;) {
      signal?.throwIfAborted();
      // Only one request can have a connection that is on its way, so the next does not wait for
      // it.
      const coming = this.#coming.get(purpose);
      this.#coming.delete(purpose);
      await coming;
      const idle = this.#takeIdle(wanted);
      if (idle !== undefined) return { connection: idle, isNew: false };
      if (this.#openCount === MAX_OPEN) this.closeIdle(this.#idle.size - 1);
      if (this.#openCount < MAX_OPEN) return { connection: await this.#open(url, signal), isNew: true };
      await this.#turn(signal);
    }
  }

  /**
   * Opens a connection that will be needed soon, unless one is free or there is no room. Never
   * rejects.
   */
  async openAhead(wanted: WantedConnection): Promise<void> {
    const purpose = purposeOf(wanted);
    const isThere = this.#findIdle(wanted) !== undefined || this.#coming.has(purpose);
    if (isThere || this.#openCount === MAX_OPEN) return;
    const coming = this.#open(wanted.url, wanted.signal).then(
      (connection) => {
        if (wanted.isNew) this.#unused.add(connection);
        this.giveBack(connection, true);
      },
      // A later request for a connection gets the error.
      () => {},
    );
    this.#coming.set(purpose, coming);
    await coming;
    if (this.#coming.get(purpose) === coming) this.#coming.delete(purpose);
  }

  /** @param isReusable if not, it is destroyed already. */
  giveBack(connection: Connection, isReusable: boolean): void {
    if (!isReusable) return this.#closed();
    connection.rest(() => this.#drop(connection));
    const timer = setTimeout(() => this.#drop(connection), IDLE_TIMEOUT_MS);
    this.#idle.set(connection, timer);
    this.closeIdle(MAX_IDLE);
    this.#callNext();
  }

  async #open(url: URL, signal: AbortSignal | null): Promise<Connection> {
    const isSecure = url.protocol === 'https:';
    const port = Number(url.port || (isSecure ? 443 : 80));
    const socket = this.#openSocket({ hostname: url.hostname, port }, isSecure);
    const connection = new Connection(url.origin, socket);
    this.#openCount += 1;
    const abort = (): void => connection.destroy(signal?.reason);
    signal?.addEventListener('abort', abort);
    try {
      await connection.opened(CONNECT_TIMEOUT_MS);
      return connection;
    } catch (error) {
      this.#closed();
      throw error;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  #findIdle({ url, isNew }: WantedConnection): Connection | undefined {
    return [...this.#idle.keys()].findLast(
      (idle) => idle.origin === url.origin && this.#unused.has(idle) === isNew,
    );
  }

  #takeIdle(wanted: WantedConnection): Connection | undefined {
    const connection = this.#findIdle(wanted);
    if (connection === undefined) return undefined;
    clearTimeout(this.#idle.get(connection));
    this.#idle.delete(connection);
    this.#unused.delete(connection);
    connection.wake();
    return connection;
  }

  /**
   * Closes those that are free.
   * @param count how many to keep, those used last.
   */
  closeIdle(count = 0): void {
    for (const connection of this.#idle.keys()) {
      if (this.#idle.size <= count) return;
      this.#drop(connection);
    }
  }

  #drop(connection: Connection): void {
    clearTimeout(this.#idle.get(connection));
    if (!this.#idle.delete(connection)) return;
    connection.destroy(new OutgoingError('broken-off', 'the connection was not needed any more'));
    this.#closed();
  }

  #closed(): void {
    this.#openCount -= 1;
    this.#callNext();
  }

  /**
   * Resolves when a connection may be free, or when the signal fires. The caller then looks again.
   */
  #turn(signal: AbortSignal | null): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const call = (): void => {
      this.#waiting.delete(call);
      resolve();
    };
    this.#waiting.add(call);
    signal?.addEventListener('abort', call);
    return promise.finally(() => signal?.removeEventListener('abort', call));
  }

  #callNext(): void {
    for (const call of this.#waiting) return call();
  }
}

function purposeOf({ url, isNew }: WantedConnection): string {
  return `${url.origin}${isNew ? ', unused' : ''}`;
}
