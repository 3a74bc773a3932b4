/**
 * A pool of the connections of one request or Durable Object, because no other can use its sockets.
 * When too many are open, further requests wait.
 */
import { connect } from 'cloudflare:sockets';
import { Connection, type SocketLike } from './connection.ts';
import { OutgoingError } from './outgoing-error.ts';

/**
 * Maximum number of open connections. Cloudflare allows six for a request, and counts every open
 * socket. The sixth is left to KV and the cache.
 */
export const MAX_OPEN = 5;
/** Maximum number of idle connections. More could make KV wait. */
const MAX_IDLE = 3;
/**
 * Time after which an idle connection is closed, before the five seconds after which Node's servers
 * close it.
 */
export const IDLE_TIMEOUT_MS = 4_000;
export const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Opens a socket.
 * @param isSecure asks for TLS, with a certificate that is valid for this name.
 */
export type OpenSocket = (address: { hostname: string; port: number }, isSecure: boolean) => SocketLike;

export const openSocket: OpenSocket = (address, isSecure) =>
  connect(address, { secureTransport: isSecure ? 'on' : 'off', allowHalfOpen: false });

interface WantedConnection {
  readonly url: URL;
  readonly signal: AbortSignal | null;
  /**
   * True if the connection must have carried nothing yet, so that the server cannot have closed it
   * meanwhile.
   */
  readonly isNew: boolean;
}

export class ConnectionPool {
  readonly #openSocket: OpenSocket;
  /** The idle connections, least recently used first, each with the timer that closes it. */
  readonly #idle = new Map<Connection, ReturnType<typeof setTimeout>>();
  /** Idle connections that have carried nothing yet, kept for requests that need such a one. */
  readonly #unused = new WeakSet<Connection>();
  /** Connections that are being opened ahead, by their purpose. */
  readonly #coming = new Map<string, Promise<void>>();
  readonly #waiting = new Set<() => void>();
  #openCount = 0;

  constructor(open: OpenSocket) {
    this.#openSocket = open;
  }

  /**
   * Takes a connection for one exchange, which the caller gives back.
   * @throws OutgoingError, or the reason of the signal.
   */
  async take(wanted: WantedConnection): Promise<{ connection: Connection; isNew: boolean }> {
    const { url, signal } = wanted;
    const purpose = purposeOf(wanted);
    for (;;) {
      signal?.throwIfAborted();
      // Only one request can have a connection that is on its way. The next does not wait for it.
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

  /**
   * Takes a connection back.
   * @param isReusable is false if it was destroyed.
   */
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
   * Closes idle connections.
   * @param count is how many to keep, of those used last.
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

  /** Waits until a connection may be free, or the signal fires. The caller then tries again. */
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
