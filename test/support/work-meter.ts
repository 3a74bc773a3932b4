/**
 * Counts what code does to texts, whatever a clock says. Every use of a pattern (`test`,
 * `matchAll`, `replaceAll`) asks its `exec`.
 */

import { TextSearch } from '../../src/git/search/text-search.ts';

export interface Work {
  /** How often a pattern is run, or a string becomes bytes. */
  readonly looks: number;
  /** Bytes that were decoded. */
  readonly bytes: number;
  /** How often a search of bytes has stopped, because it has found something. */
  readonly finds: number;
  /**
   * Characters that methods of strings and patterns have passed, where they are told of each
   * other's.
   */
  readonly characters: number;
}

/** @param run which nothing else runs beside. */
export async function workOf(run: () => unknown): Promise<Work> {
  let [looks, bytes, finds, characters] = [0, 0, 0, 0];
  const restore = [
    counted(RegExp.prototype, 'exec', (pattern, [text], found) => {
      looks += 1;
      characters += passedBy(pattern as RegExp, String(text), found as RegExpExecArray | null);
    }),
    ...WHOLE.map((method) => counted(String.prototype, method, (text) => (characters += lengthOf(text)))),
    ...SINGLE.map((method) => counted(String.prototype, method, () => (characters += 1))),
    counted(String.prototype, 'indexOf', (text, [, from], found) => {
      const start = Number(from ?? 0);
      characters += (Number(found) < 0 ? lengthOf(text) : Number(found)) - start + 1;
    }),
    counted(String.prototype, 'lastIndexOf', (text, [, from], found) => {
      characters += Math.min(lengthOf(text), Number(from ?? Infinity)) - Math.max(0, Number(found)) + 1;
    }),
    counted(TextEncoder.prototype, 'encode', () => (looks += 1)),
    counted(Buffer.prototype, 'toString', (buffer) => (bytes += byteLengthOf(buffer))),
    counted(TextSearch.prototype, 'find', () => (finds += 1)),
    counted(TextDecoder.prototype, 'decode', (_, [asked]) => (bytes += byteLengthOf(asked))),
  ];
  try {
    await run();
    return { looks, bytes, finds, characters };
  } finally {
    for (const undo of restore) undo();
  }
}

function counted(
  owner: object,
  method: string,
  count: (self: unknown, args: readonly unknown[], result: unknown) => void,
): () => void {
  const real = Reflect.get(owner, method) as (...args: unknown[]) => unknown;
  Reflect.set(owner, method, function (this: unknown, ...args: unknown[]) {
    const result: unknown = Reflect.apply(real, this, args);
    count(this, args, result);
    return result;
  });
  return () => void Reflect.set(owner, method, real);
}

const byteLengthOf = (bytes: unknown): number => (ArrayBuffer.isView(bytes) ? bytes.byteLength : 0);

/** Methods that go through all of a text, and that look at one place of it. */
const WHOLE = ['normalize', 'toLowerCase', 'toUpperCase', 'includes', 'split', 'trim'] as const;
const SINGLE = ['charCodeAt', 'codePointAt', 'charAt', 'startsWith', 'slice'] as const;

const lengthOf = (text: unknown): number => String(text).length;

/** How far a pattern has looked: to the end of what it has found, or of the text. */
function passedBy(pattern: RegExp, text: string, found: RegExpExecArray | null): number {
  if (found !== null) return found[0].length + 1;
  return pattern.sticky ? 1 : text.length;
}
