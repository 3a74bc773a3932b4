/**
 * Counts what code does to texts, whatever a clock says. Every use of a pattern (`test`, `matchAll`,
 * `replaceAll`) asks its `exec`.
 */

import { TextSearch } from '../../src/git/search/text-search.ts';

export interface Work {
  /** How often a pattern is run, or a string becomes bytes. */
  readonly looks: number;
  /** Bytes that were decoded. */
  readonly bytes: number;
  /** How often a search of bytes has stopped, because it has found something. */
  readonly finds: number;
}

/** @param run which nothing else runs beside. */
export async function workOf(run: () => unknown): Promise<Work> {
  let [looks, bytes, finds] = [0, 0, 0];
  const restore = [
    counted(RegExp.prototype, 'exec', () => (looks += 1)),
    counted(TextEncoder.prototype, 'encode', () => (looks += 1)),
    counted(Buffer.prototype, 'toString', (buffer) => (bytes += byteLengthOf(buffer))),
    counted(TextSearch.prototype, 'find', () => (finds += 1)),
    counted(TextDecoder.prototype, 'decode', (_, [asked]) => (bytes += byteLengthOf(asked))),
  ];
  try {
    await run();
    return { looks, bytes, finds };
  } finally {
    for (const undo of restore) undo();
  }
}

function counted(
  owner: object,
  method: string,
  count: (self: unknown, args: readonly unknown[]) => void,
): () => void {
  const real = Reflect.get(owner, method) as (...args: unknown[]) => unknown;
  Reflect.set(owner, method, function (this: unknown, ...args: unknown[]) {
    count(this, args);
    return Reflect.apply(real, this, args);
  });
  return () => void Reflect.set(owner, method, real);
}

const byteLengthOf = (bytes: unknown): number => (ArrayBuffer.isView(bytes) ? bytes.byteLength : 0);
