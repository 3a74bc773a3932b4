/**
 * The two loops over the symbols of a compressed block (RFC 1951 §3.2.3): one writes output, one only counts it.
 *
 * Both stop before the first step that does not end by the bit `end`, and read up to eight bytes behind it. Positions
 * and lengths are locals there; what must outlive the call goes to a `SymbolState`, made once for the walker.
 */
import { ProtocolError } from '../protocol-error.ts';
import type { BlockCodes } from './block-codes.ts';
import {
  DISTANCE_BASE,
  DISTANCE_EXTRA_BITS,
  KIND_END_OF_BLOCK,
  KIND_INVALID,
  KIND_SUBTABLE,
  NEEDS_SHIFT,
  OUTPUT_MASK,
  OUTPUT_SHIFT,
  VALUE_SHIFT,
  WINDOW_BYTES,
  kindOf,
  subtableStart,
} from './deflate-format.ts';

export class SymbolState {
  /** Bytes of output so far. */
  produced = 0;
  /** Length of a match whose distance has not been read yet; 0: the next symbol is a literal or a length. */
  pendingLength = 0;
  /** The end of the block has been read. */
  ended = false;
}

const lowBits = (bits: number, count: number): number => bits & ~(-1 << count);

/** The distance for an entry found for the bits at `pos`: RFC 1951 §3.2.5. */
function readDistance(view: DataView, pos: number, entry: number): number {
  const symbol = (entry >>> VALUE_SHIFT) & 31;
  const extra = DISTANCE_EXTRA_BITS[symbol]!;
  const at = pos + (entry & 31) - extra;
  return DISTANCE_BASE[symbol]! + lowBits(view.getUint32(at >>> 3, true) >>> (at & 7), extra);
}

function tooFarBack(): never {
  throw new ProtocolError('bad-pack', 'compressed data: distance too far back');
}

function invalidCode(): never {
  throw new ProtocolError('bad-pack', 'compressed data: invalid code');
}

/** Counts the output of the steps between the bits `pos` and `end`; returns where it stopped. */
export function countSymbols(
  state: SymbolState,
  codes: BlockCodes,
  view: DataView,
  pos: number,
  end: number,
): number {
  const { entries, literalMask, distanceMask, distanceAt } = codes;
  // Behind so many bytes every distance is valid: counting from there on keeps a long stream's count in 31 bits.
  const uncounted = Math.max(0, state.produced - 2 * WINDOW_BYTES);
  let out = state.produced - uncounted;
  // One more than the output before this step's match.
  let before = out - state.pendingLength + 1;
  let inDistance = state.pendingLength === 0 ? 0 : 1;
  for (;;) {
    const bits = view.getUint32(pos >>> 3, true) >>> (pos & 7);
    let entry = inDistance ? entries[distanceAt + (bits & distanceMask)]! : entries[bits & literalMask]!;
    if (before >>> (entry >>> NEEDS_SHIFT) === 0) {
      if (kindOf(entry) === KIND_SUBTABLE) {
        const rootBits = 32 - Math.clz32(inDistance ? distanceMask : literalMask);
        entry = entries[subtableStart(entry) + lowBits(bits >>> rootBits, (entry >>> 5) & 31)]!;
      }
      if (pos + (entry & 31) > end) break;
      const kind = kindOf(entry);
      if (kind === KIND_INVALID) invalidCode();
      if (kind === KIND_END_OF_BLOCK) {
        pos += entry & 31;
        state.ended = true;
        break;
      }
      if (inDistance && readDistance(view, pos, entry) >= before) tooFarBack();
    }
    const next = pos + (entry & 31);
    if (next > end) break;
    pos = next;
    before = out + 1;
    const output = (entry >>> OUTPUT_SHIFT) & OUTPUT_MASK;
    out += output + (lowBits(bits, entry & 31) >>> (entry >>> 5));
    inDistance = output > 1 ? 1 : 0;
  }
  state.pendingLength = inDistance ? out + 1 - before : 0;
  state.produced = uncounted + out;
  return pos;
}

/** Writes to `output` until `keepBytes` of it are there; a match across that line is counted to its end. */
export function keepSymbols(
  state: SymbolState,
  codes: BlockCodes,
  view: DataView,
  pos: number,
  end: number,
  output: Uint8Array,
  keepBytes: number,
): number {
  const { entries, literalMask, distanceMask, distanceAt } = codes;
  const literalBits = 32 - Math.clz32(literalMask);
  const distanceBits = 32 - Math.clz32(distanceMask);
  let out = state.produced;
  while (out < keepBytes) {
    let bits = view.getUint32(pos >>> 3, true) >>> (pos & 7);
    let entry = entries[bits & literalMask]!;
    if (kindOf(entry) === KIND_SUBTABLE) {
      entry = entries[subtableStart(entry) + lowBits(bits >>> literalBits, (entry >>> 5) & 31)]!;
    }
    let next = pos + (entry & 31);
    if (next > end) break;
    if (entry >>> NEEDS_SHIFT !== 0) {
      if (kindOf(entry) === KIND_INVALID) invalidCode();
      pos = next;
      state.ended = true;
      break;
    }
    const base = (entry >>> OUTPUT_SHIFT) & OUTPUT_MASK;
    if (base === 1) {
      output[out++] = entry >>> VALUE_SHIFT;
      pos = next;
      continue;
    }
    const length = base + (lowBits(bits, entry & 31) >>> (entry >>> 5));
    bits = view.getUint32(next >>> 3, true) >>> (next & 7);
    entry = entries[distanceAt + (bits & distanceMask)]!;
    if (kindOf(entry) === KIND_SUBTABLE) {
      entry = entries[subtableStart(entry) + lowBits(bits >>> distanceBits, (entry >>> 5) & 31)]!;
    }
    const distanceAtBit = next;
    next += entry & 31;
    if (next > end) break;
    if (kindOf(entry) === KIND_INVALID) invalidCode();
    const distance = readDistance(view, distanceAtBit, entry);
    if (distance > out) tooFarBack();
    pos = next;
    const stop = out + length;
    const copied = stop < keepBytes ? stop : keepBytes;
    for (let from = out - distance; out < copied; from++) output[out++] = output[from]!;
    out = stop;
  }
  state.produced = out;
  return pos;
}
