/**
 * Finds those of many texts in which something may be found. A push can have thousands of messages
 * of some bytes each, and a pattern takes longer to begin than to run over them: so many are
 * searched as one text. What is found is then looked at in its own text.
 */
import { concatBytes, latin1 } from '../bytes.ts';
import type { Memory } from '../memory.ts';

/** Size from which a text is searched alone, and to which others are joined. */
const JOINED_BYTES = 64 * 1024;
const LINE_END = Uint8Array.of(0x0a);

/**
 * Yields the texts in which a pattern matches, in their order.
 * @param patterns match nothing with a line end in it. They see one before and behind each text.
 */
export async function* textsWith(
  texts: Iterable<Uint8Array>,
  patterns: readonly RegExp[],
  memory: Pick<Memory, 'worked'>,
): AsyncGenerator<Uint8Array> {
  for (const joined of joinedTexts(texts)) {
    const found = joined.length === 1 ? joined : matching(joined, patterns);
    const bytes = joined.reduce((sum, text) => sum + text.byteLength, 0);
    await memory.worked(patterns.length * bytes);
    yield* found;
  }
}

function* joinedTexts(texts: Iterable<Uint8Array>): Generator<readonly Uint8Array[]> {
  let joined: Uint8Array[] = [];
  let bytes = 0;
  for (const text of texts) {
    if (joined.length > 0 && bytes + text.byteLength > JOINED_BYTES) {
      yield joined;
      [joined, bytes] = [[], 0];
    }
    joined.push(text);
    bytes += text.byteLength;
  }
  if (joined.length > 0) yield joined;
}

function matching(texts: readonly Uint8Array[], patterns: readonly RegExp[]): Uint8Array[] {
  const whole = latin1(concatBytes(texts.flatMap((text) => [text, LINE_END])));
  const starts: number[] = [0];
  for (const text of texts) starts.push(starts.at(-1)! + text.byteLength + LINE_END.length);
  const found = new Set<number>();
  for (const pattern of patterns) {
    let at = 0;
    for (const { index } of whole.matchAll(pattern)) {
      while (starts[at + 1]! <= index) at++;
      found.add(at);
    }
    pattern.lastIndex = 0;
  }
  return texts.filter((_, at) => found.has(at));
}
