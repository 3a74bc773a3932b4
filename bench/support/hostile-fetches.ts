/** Fetches that take as much memory as possible, uncompressed: gzip would be refused. */
const MiB = 1024 * 1024;
/** Size just below the limit of a fetch's body. */
const LONG_BYTES = 50 * MiB - 1024;
const PIECE_BYTES = MiB;

export interface HostileFetch {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | ReadableStream<Uint8Array>;
  readonly status: number;
}

const HEAD = '0012command=fetch\n0001';
const V2 = { 'Git-Protocol': 'version=2' };

export const HOSTILE_FETCHES = {
  /** Git itself refuses this one and the next. */
  depths: (): HostileFetch => ({ headers: V2, body: long('000ddeepen 1\n'), status: 200 }),
  unknownLines: (): HostileFetch => ({ headers: V2, body: long('0005x'), status: 200 }),
  /** A request of version 0 whose length is not announced. */
  flushes: (): HostileFetch => ({ headers: {}, body: streamOf('0000', 52 * MiB), status: 413 }),
  /** The host refuses it, because it has no such commit. */
  wants: (): HostileFetch => ({ headers: V2, body: long(`0032want ${'1'.repeat(40)}\n`), status: 200 }),
} as const;

function long(line: string): Uint8Array {
  const lines = Buffer.alloc(Math.floor(LONG_BYTES / line.length) * line.length, line);
  return Buffer.concat([Buffer.from(HEAD), lines, Buffer.from('0009done\n0000')]);
}

function streamOf(line: string, bytes: number): ReadableStream<Uint8Array> {
  const piece = Buffer.alloc(PIECE_BYTES, line);
  let left = bytes;
  return new ReadableStream({
    pull(controller) {
      if (left <= 0) return controller.close();
      controller.enqueue(new Uint8Array(piece));
      left -= PIECE_BYTES;
    },
  });
}
