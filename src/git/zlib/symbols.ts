/**
 * The two loops over the symbols of a compressed block (RFC 1951 §3.2.3): one writes output, one
 * only counts it. Each has a fast loop, which keeps at least 24 bits at hand and needs no check of
 * the end, and a careful step for the rest: the last bytes before `end`, codes with a subtable, the
 * end of the block, and errors. A step that does not end by the bit `end` is not taken. The fast
 * loops have their own constants, since another module's cost a load and a check in each step, and
 * `| 0` says that a sum stays within 31 bits, which is otherwise checked.
 * Proved by test/git/zlib/agreement.property.test.ts and test/git/zlib/known-streams.test.ts.
 */
import {
  DISTANCES_AT,
  END_OF_BLOCK,
  INVALID,
  KIND_MASK,
  MIN_MATCH_BYTES,
  ROOT_BITS,
  SUBTABLE,
  SUBTABLE_SHIFT,
  WINDOW_BYTES,
  distanceOf,
  extraOutput,
  rankWithin,
  damagedData,
} from './deflate-format.ts';

/**
 * Number of bytes that a view must have after `end`, because bits are read four and five bytes at a
 * time.
 */
export const READ_AHEAD_BYTES = 8;

/** State between calls. */
export class SymbolState {
  produced = 0;
  /**
   * Length of a match whose distance has not been read yet, or 0 if the next symbol is a literal or
   * a length.
   */
  pendingLength = 0;
  ended = false;
}

/**
 * Counts the output of the steps between the bits `pos` and `end`.
 * @returns the bit at which it stopped.
 */
export function countSymbols(
  state: SymbolState,
  entries: Int32Array,
  view: DataView,
  pos: number,
  end: number,
): number {
  const ROOT_MASK = 0x3ff;
  const DISTANCES = 0x400;
  const RANK = 0xf800;
  const fastEnd = (end >>> 3) - READ_AHEAD_BYTES;
  // Behind two windows every distance is valid: to count from there keeps a long stream's count in
  // 31 bits.
  const uncounted = Math.max(0, state.produced - 2 * WINDOW_BYTES);
  let out = (state.produced - uncounted) | 0;
  // One more than the output before the current match, and the ranks that are surely within it.
  let before = (out - state.pendingLength + 1) | 0;
  let reach = 0;
  // The part of the table to use. A distance counts one byte of its match.
  let table = state.pendingLength === 0 ? 0 : DISTANCES;
  if (table !== 0) out = (out - 1) | 0;
  for (;;) {
    if (pos >>> 3 < fastEnd) {
      let at = pos >>> 3;
      let bits = view.getUint32(at, true) >>> (pos & 7);
      let valid = (24 - (pos & 7)) | 0;
      at = (at + 3) | 0;
      let entry = entries[(bits & ROOT_MASK) | table]!;
      while (at < fastEnd) {
        // The entry is looked up before these bits are added, so that the processor need not wait
        // for them.
        const lookedUpWith = valid;
        bits |= view.getUint32(at, true) << valid;
        at = (at + ((31 - valid) >> 3)) | 0;
        valid |= 24;
        if ((entry & 31) > lookedUpWith) entry = entries[(bits & ROOT_MASK) | table]!;
        if ((entry & RANK) > reach) {
          if ((entry & RANK) === RANK || distanceOf(entry, bits) >= before) break;
          reach = rankWithin(before - 1);
        }
        before = (out + 1) | 0;
        const rest = bits >>> entry;
        out = (before + (entry >>> 24) + ((bits ^ (rest << entry)) >>> (entry >>> 5))) | 0;
        bits = rest;
        valid = (valid - entry) & 31;
        table = entry & DISTANCES;
        entry = entries[(bits & ROOT_MASK) | table]!;
      }
      pos = (at << 3) - valid;
    }
    const bits = bitsAt(view, pos);
    const entry = entryOf(entries, table, bits);
    const next = pos + (entry & 31);
    if (next > end) break;
    const kind = entry & KIND_MASK;
    if (kind === INVALID) throw damagedData('invalid code');
    pos = next;
    if (kind === END_OF_BLOCK) {
      state.ended = true;
      break;
    }
    if (table !== 0 && distanceOf(entry, bits) >= before) throw damagedData('distance too far back');
    before = (out + 1) | 0;
    out = (before + (entry >>> 24) + extraOutput(entry, bits)) | 0;
    table = entry & DISTANCES;
  }
  if (table !== 0) out = (out + 1) | 0;
  state.pendingLength = table === 0 ? 0 : out - before + 1;
  state.produced = uncounted + out;
  return pos;
}

/**
 * Writes to `output` until it has `keepBytes`. A match that goes beyond is written up to `room`,
 * and only counted from there on.
 * @returns the bit at which it stopped, which is never between a length and its distance.
 */
export function keepSymbols(
  state: SymbolState,
  entries: Int32Array,
  view: DataView,
  pos: number,
  end: number,
  output: Uint8Array,
  keepBytes: number,
  room: number,
): number {
  const ROOT_MASK = 0x3ff;
  const DISTANCES = 0x400;
  const RANK = 0xf800;
  const fastEnd = (end >>> 3) - READ_AHEAD_BYTES;
  let out = state.produced;
  while (out < keepBytes) {
    if (pos >>> 3 < fastEnd) {
      let at = pos >>> 3;
      let bits = view.getUint32(at, true) >>> (pos & 7);
      let valid = (24 - (pos & 7)) | 0;
      at = (at + 3) | 0;
      while (out < keepBytes && at < fastEnd) {
        bits |= view.getUint32(at, true) << valid;
        at = (at + ((31 - valid) >> 3)) | 0;
        valid |= 24;
        const entry = entries[bits & ROOT_MASK]!;
        if ((entry & RANK) !== 0) break;
        if ((entry & DISTANCES) === 0) {
          output[out] = entry >>> 16;
          out = (out + 1) | 0;
          bits >>>= entry;
          valid = (valid - entry) & 31;
          continue;
        }
        const distanceBits = (bits >>> entry) | (view.getUint32(at, true) << (valid - entry));
        const distanceEntry = entries[(distanceBits & ROOT_MASK) | DISTANCES]!;
        if ((distanceEntry & RANK) === RANK) break;
        const distance = distanceOf(distanceEntry, distanceBits);
        if (distance > out) throw damagedData('distance too far back');
        const length = MIN_MATCH_BYTES + (entry >>> 24) + extraOutput(entry, bits);
        out = copyMatch(output, out, distance, length, room);
        valid = (valid - entry) & 31;
        at = (at + ((31 - valid) >> 3)) | 0;
        bits = distanceBits >>> distanceEntry;
        valid = ((valid | 24) - distanceEntry) & 31;
      }
      pos = (at << 3) - valid;
      if (out >= keepBytes) break;
    }
    const bits = bitsAt(view, pos);
    const entry = entryOf(entries, 0, bits);
    const next = pos + (entry & 31);
    if (next > end) break;
    const kind = entry & KIND_MASK;
    if (kind === INVALID) throw damagedData('invalid code');
    if (kind === END_OF_BLOCK) {
      pos = next;
      state.ended = true;
      break;
    }
    if ((entry & DISTANCES_AT) === 0) {
      output[out++] = entry >>> 16;
      pos = next;
      continue;
    }
    const distanceBits = bitsAt(view, next);
    const distanceEntry = entryOf(entries, DISTANCES_AT, distanceBits);
    const matchEnd = next + (distanceEntry & 31);
    if (matchEnd > end) break;
    if ((distanceEntry & KIND_MASK) === INVALID) throw damagedData('invalid code');
    const distance = distanceOf(distanceEntry, distanceBits);
    if (distance > out) throw damagedData('distance too far back');
    const length = MIN_MATCH_BYTES + (entry >>> 24) + extraOutput(entry, bits);
    out = copyMatch(output, out, distance, length, room);
    pos = matchEnd;
  }
  state.produced = out;
  return pos;
}

/**
 * Copies a match, which may overlap itself, as far as there is room.
 * @returns the length of the output with all of the match.
 */
function copyMatch(output: Uint8Array, out: number, distance: number, length: number, room: number): number {
  const stop = (out + length) | 0;
  const copyEnd = stop < room ? stop : room;
  for (let i = out; i < copyEnd; i++) output[i] = output[i - distance]!;
  return stop;
}

function bitsAt(view: DataView, pos: number): number {
  const at = pos >>> 3;
  const offset = pos & 7;
  return (view.getUint32(at, true) >>> offset) | ((view.getUint8(at + 4) << 1) << (31 - offset));
}

function entryOf(entries: Int32Array, table: number, bits: number): number {
  const entry = entries[(bits & (DISTANCES_AT - 1)) | table]!;
  if ((entry & KIND_MASK) !== SUBTABLE) return entry;
  return entries[(entry >>> SUBTABLE_SHIFT) + ((bits >>> ROOT_BITS) & ~(-1 << entry))]!;
}
