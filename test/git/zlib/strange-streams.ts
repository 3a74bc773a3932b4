/**
 * Streams as no compressor writes them: codes of any shape and length, symbols at random, mostly
 * sound.
 */
import { DeflateWriter, type Bits } from './deflate-writer.ts';

type Random = (below: number) => number;

const LENGTH_EXTRA_BITS = (symbol: number): number =>
  symbol < 265 || symbol === 285 ? 0 : (symbol - 261) >> 2;
const DISTANCE_EXTRA_BITS = (symbol: number): number => Math.max(0, (symbol >> 1) - 1);

/** The same seed gives the same stream; its checksum is left to the caller. */
export function strangeBody(seed: number): DeflateWriter {
  const random = randomFrom(seed);
  const writer = new DeflateWriter();
  for (let blocks = random(4); blocks >= 0; blocks--) {
    const isLast = blocks === 0;
    const type = random(5);
    if (type === 0) {
      // Now and then so much that the largest distances are sound.
      const length = random(random(6) === 0 ? 40_000 : 200);
      writer.stored(
        isLast,
        Array.from({ length }, () => random(256)),
      );
      continue;
    }
    let literals = Array.from({ length: 286 }, (_, symbol) => symbol);
    let distances = Array.from({ length: 30 }, (_, symbol) => symbol);
    if (type === 1) writer.fixed(isLast);
    else {
      const literalLengths = codeLengths(random, 257 + random(30), 256);
      const distanceLengths = codeLengths(random, 1 + random(30), -1);
      writer.dynamic(isLast, { literals: literalLengths, distances: distanceLengths });
      literals = used(literalLengths);
      distances = used(distanceLengths);
    }
    writeSymbols(writer, random, literals, distances);
  }
  return writer;
}

function writeSymbols(
  writer: DeflateWriter,
  random: Random,
  literals: readonly number[],
  distances: readonly number[],
): void {
  const bytes = literals.filter((symbol) => symbol < 256);
  const matches = literals.filter((symbol) => symbol > 256);
  const extra = (count: number): Bits => [random(4) === 0 ? 2 ** count - 1 : random(2 ** count), count];
  const matchShare = random(8);
  for (let i = random(random(4) === 0 ? 2_000 : 40); i > 0; i--) {
    if (matches.length > 0 && distances.length > 0 && (bytes.length === 0 || random(8) < matchShare)) {
      const length = matches[random(matches.length)] as number;
      // Mostly small distances, which are sound early on.
      const distance = distances[random(1 + random(distances.length))] as number;
      writer.match(length, extra(LENGTH_EXTRA_BITS(length)), distance, extra(DISTANCE_EXTRA_BITS(distance)));
    } else if (bytes.length > 0) {
      writer.literal(bytes[random(bytes.length)] as number);
    }
  }
  writer.endOfBlock();
}

const used = (lengths: readonly number[]): number[] =>
  [...lengths.keys()].filter((symbol) => lengths[symbol] !== 0);

/**
 * Lengths of a code with a word for `needed`, if that is a symbol; it is complete but in one of
 * sixteen.
 */
function codeLengths(random: Random, symbols: number, needed: number): number[] {
  // A complete code is a tree: one leaf after the other is split, the deepest more often if the
  // tree is steep.
  const leaves = [0];
  const steepness = random(3);
  const leafCount = 1 + random(random(3) === 0 ? symbols : Math.min(symbols, 14));
  for (let attempts = 0; leaves.length < leafCount && attempts < 2 * symbols; attempts++) {
    const reach = steepness === 0 ? leaves.length : Math.min(leaves.length, 2 * steepness);
    const index = leaves.length - 1 - random(reach);
    const depth = leaves[index] as number;
    if (depth < 15) leaves.splice(index, 1, depth + 1, depth + 1);
  }
  if (leaves.length === 1) leaves[0] = needed >= 0 ? 1 : random(2);
  if (random(16) === 0) leaves[random(leaves.length)] = 1 + random(15);
  const lengths = Array.from({ length: symbols }, () => 0);
  const free = [...lengths.keys()].filter((symbol) => symbol !== needed);
  if (needed >= 0) lengths[needed] = leaves.splice(random(leaves.length), 1)[0] as number;
  for (const depth of leaves) lengths[free.splice(random(free.length), 1)[0] as number] = depth;
  return lengths;
}

function randomFrom(seed: number): Random {
  let state = seed | 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}
