/**
 * Counts what code does to texts, whatever a clock says. Every use of a pattern (`test`, `matchAll`,
 * `replaceAll`) asks its `exec`.
 */

export interface Work {
  /** How often a pattern is run, or a string becomes bytes. */
  readonly looks: number;
  /** Bytes that were decoded. */
  readonly bytes: number;
}

/** @param run which nothing else runs beside. */
export async function workOf(run: () => unknown): Promise<Work> {
  let [looks, bytes] = [0, 0];
  const restore = [
    counted(RegExp.prototype, 'exec', () => (looks += 1)),
    counted(TextEncoder.prototype, 'encode', () => (looks += 1)),
    counted(Buffer.prototype, 'toString', (buffer) => (bytes += byteLengthOf(buffer))),
    counted(TextDecoder.prototype, 'decode', (_, [asked]) => (bytes += byteLengthOf(asked))),
  ];
  try {
    await run();
    return { looks, bytes };
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
