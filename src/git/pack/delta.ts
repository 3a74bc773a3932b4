/**
 * Deltas: a base's size, the result's size, then copy and insert instructions (gitformat-pack, "Deltified
 * representation"). Those of commits and tags are resolved, so that they can be rewritten; those of trees and blobs of
 * a small pack, so that they can be searched. Others pass through.
 */
import { concatBytes } from '../bytes.ts';
import { ProtocolError } from '../wire/protocol-error.ts';

const MAX_SIZE_BYTES = 10;
/** The two sizes at the head of a delta. */
export const MAX_DELTA_HEADER_BYTES = 2 * MAX_SIZE_BYTES;

export interface DeltaHeader {
  readonly baseSize: number;
  readonly resultSize: number;
  /** Where the instructions begin. */
  readonly instructionsStart: number;
}

function badDelta(): ProtocolError {
  return new ProtocolError('bad-pack', 'The pack contains a malformed delta. Push again.');
}

/** @throws ProtocolError `bad-pack` if `delta` ends inside its header. */
export function parseDeltaHeader(delta: Uint8Array): DeltaHeader {
  const resultStart = behindSize(delta, 0, delta.byteLength);
  const instructionsStart = behindSize(delta, resultStart, delta.byteLength);
  return { baseSize: sizeAt(delta, 0), resultSize: sizeAt(delta, resultStart), instructionsStart };
}

/**
 * For a delta of which `end` bytes are available. Allocates nothing, because many deltas only pass through.
 * @throws ProtocolError `bad-pack` if the delta's header does not end by then.
 */
export function resultSizeOf(delta: Uint8Array, end: number): number {
  const resultStart = behindSize(delta, 0, end);
  behindSize(delta, resultStart, end);
  return sizeAt(delta, resultStart);
}

/** Where the size at `start` ends. */
function behindSize(delta: Uint8Array, start: number, end: number): number {
  const stop = Math.min(end, start + MAX_SIZE_BYTES);
  for (let at = start; at < stop; at++) if (delta[at]! < 0x80) return at + 1;
  throw badDelta();
}

function sizeAt(delta: Uint8Array, start: number): number {
  let size = 0;
  for (let at = start, factor = 1; ; at++, factor *= 128) {
    const byte = delta[at]!;
    size += (byte & 0x7f) * factor;
    if (byte < 0x80) return size;
  }
}

/**
 * The object that results from `base` and `delta`. Nothing is allocated before the result's size is known to be at most
 * `maxBytes`.
 * @throws ProtocolError `bad-pack` if the delta does not fit the base, `too-large` over `maxBytes`.
 */
export function applyDelta(base: Uint8Array, delta: Uint8Array, maxBytes: number): Uint8Array {
  const { baseSize, resultSize } = parseDeltaHeader(delta);
  if (baseSize !== base.byteLength) throw badDelta();
  if (resultSize > maxBytes) throw new ProtocolError('too-large', 'A commit or tag is too large.');
  const result = new Uint8Array(resultSize);
  let filled = 0;
  readInstructions(delta, (isCopy, offset, length) => {
    const bytes = (isCopy ? base : delta).subarray(offset, offset + length);
    if (bytes.byteLength !== length || filled + length > resultSize) throw badDelta();
    result.set(bytes, filled);
    filled += length;
  });
  if (filled !== resultSize) throw badDelta();
  return result;
}

/** @param take called for each: `offset` in the base of a copy, in the delta of an insert. @throws ProtocolError */
export function readInstructions(
  delta: Uint8Array,
  take: (isCopy: boolean, offset: number, length: number) => void,
): void {
  let position = parseDeltaHeader(delta).instructionsStart;
  const next = (): number => {
    const byte = delta[position++];
    if (byte === undefined) throw badDelta();
    return byte;
  };
  while (position < delta.byteLength) {
    const instruction = next();
    if (instruction === 0) throw badDelta();
    if (instruction < 0x80) {
      take(false, position, instruction);
      position += instruction;
      continue;
    }
    let offset = 0;
    let length = 0;
    if (instruction & 0x01) offset = next();
    if (instruction & 0x02) offset += next() * 0x100;
    if (instruction & 0x04) offset += next() * 0x10000;
    if (instruction & 0x08) offset += next() * 0x1000000;
    if (instruction & 0x10) length = next();
    if (instruction & 0x20) length += next() * 0x100;
    if (instruction & 0x40) length += next() * 0x10000;
    take(true, offset, length === 0 ? 0x10000 : length);
  }
}

/** What a delta inserts. Inserts that follow each other are one. @throws ProtocolError `bad-pack` */
export function insertsOf(delta: Uint8Array): Uint8Array[] {
  const inserts: Uint8Array[][] = [[]];
  readInstructions(delta, (isCopy, offset, length) => {
    if (isCopy) inserts.push([]);
    else inserts.at(-1)?.push(delta.subarray(offset, offset + length));
  });
  return inserts.filter((parts) => parts.length > 0).map(concatBytes);
}
