/**
 * Finds any of many byte strings in one pass: thousands of ids and dates in megabytes of packs,
 * after every test.
 */
const KEY_BYTES = 4;
const CONTEXT_BYTES = 48;
/**
 * Five bytes occur by chance once in a terabyte, and the tests push a hundred megabytes of noise in
 * each run.
 */
const SHORT_BYTES = 6;
/** The size from which much is searched: there, a short text counts only with text around it. */
const LONG_BYTES = 64 * 1024;
const AROUND_BYTES = 4;
/** More digits than an id or a hash has. */
const AROUND_NUMBER_BYTES = 64;

export interface Found<Label> {
  readonly label: Label;
  readonly offset: number;
  /** The text around it, printable. */
  readonly context: string;
}

export class ByteSearch<Label> {
  readonly #patterns = new Map<number, { label: Label; bytes: Buffer }[]>();
  /** Which first two bytes any pattern has: rules most positions out. */
  readonly #starts = new Uint8Array(65_536);

  /** @param bytes at least four. */
  add(label: Label, bytes: Uint8Array): void {
    if (bytes.byteLength < KEY_BYTES) throw new Error('too short to search for');
    const copy = Buffer.from(bytes);
    const key = copy.readUInt32BE(0);
    const known = this.#patterns.get(key) ?? [];
    if (known.some((pattern) => pattern.bytes.equals(copy))) return;
    this.#patterns.set(key, [...known, { label, bytes: copy }]);
    this.#starts[copy.readUInt16BE(0)] = 1;
  }

  /** Every pattern that occurs, each where it occurs first. */
  search(haystack: Buffer): Found<Label>[] {
    const found = new Map<Label, Found<Label>>();
    const last = haystack.length - KEY_BYTES;
    for (let offset = 0; offset <= last; offset++) {
      if (this.#starts[((haystack[offset] as number) << 8) | (haystack[offset + 1] as number)] === 0)
        continue;
      for (const { label, bytes } of this.#patterns.get(haystack.readUInt32BE(offset)) ?? []) {
        if (found.has(label) || !haystack.subarray(offset, offset + bytes.length).equals(bytes)) continue;
        if (bytes.length < SHORT_BYTES && isInNoise(haystack, offset, bytes.length)) continue;
        if (isInHex(haystack, offset, bytes)) continue;
        found.set(label, { label, offset, context: contextOf(haystack, offset, bytes.length) });
      }
    }
    return [...found.values()];
  }
}

function isInNoise(haystack: Buffer, offset: number, length: number): boolean {
  if (haystack.length < LONG_BYTES) return false;
  const start = Math.max(0, offset - AROUND_BYTES);
  return /[^\t\n\r -~]/.test(haystack.toString('latin1', start, offset + length + AROUND_BYTES));
}

/**
 * Ten digits in a row occur by chance in ids: tests know thousands of dates, and push thousands of
 * ids.
 */
function isInHex(haystack: Buffer, offset: number, bytes: Buffer): boolean {
  if (!/^\d+$/.test(bytes.toString('latin1'))) return false;
  const [end, start] = [offset + bytes.length, Math.max(0, offset - AROUND_NUMBER_BYTES)];
  const [before = ''] = /[\da-f]*$/.exec(haystack.toString('latin1', start, offset)) ?? [];
  const [after = ''] = /^[\da-f]*/.exec(haystack.toString('latin1', end, end + AROUND_NUMBER_BYTES)) ?? [];
  return /[a-f]/.test(before + after);
}

function contextOf(haystack: Buffer, offset: number, length: number): string {
  const start = Math.max(0, offset - CONTEXT_BYTES);
  const text = haystack.toString('latin1', start, offset + length + CONTEXT_BYTES);
  return text.replaceAll(/[^\x20-\x7e]/g, '.');
}
