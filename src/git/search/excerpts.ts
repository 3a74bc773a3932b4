/**
 * Finds the line or entry in which a span stands: what is shown of it, and what is compared with
 * upstream's version.
 */
import { latin1 } from '../bytes.ts';
import type { FileObject } from '../pack/packed-objects.ts';
import type { Credential } from './credentials.ts';
import type { Span } from './text-search.ts';

const LF = 0x0a;
const SPACE = 0x20;
const ID_BYTES = 20;
/** Number of bytes of a line that are shown before and after a hit. */
export const SHOWN_BEFORE = 80;
const SHOWN_AFTER = 40;
/** Maximum length of a line that is compared with upstream's. */
const MAX_LINE_BYTES = 1_000;

/** A span in which something was found. */
export interface FoundSpan extends Span {
  /** The credential that begins there, or null if it is something else. */
  readonly credential: Credential | null;
}

interface Line {
  readonly excerpt: Uint8Array;
  readonly line: string | null;
  /** The index of the text that was found in it. */
  readonly text: number;
  readonly credential: Credential | null;
}

/**
 * Yields the lines of a file, or the entries of a folder, in which spans end, one by one, because
 * there may be thousands.
 * @param spans are in order.
 */
export function* linesAt({ type, content }: FileObject, spans: Iterable<FoundSpan>): Generator<Line> {
  let start = 0;
  let nul = content.indexOf(0);
  for (const { end, text, credential } of spans) {
    if (type === 'blob') {
      // A credential that upstream has is upstream's in any line.
      const line = credential === null ? lineAt(content, end) : credential.text;
      yield { excerpt: excerptAt(content, end), line, text, credential };
      continue;
    }
    while (nul >= 0 && nul + 1 + ID_BYTES < end) {
      start = nul + 1 + ID_BYTES;
      nul = content.indexOf(0, start);
    }
    const head = content.subarray(start, nul < 0 ? content.length : nul);
    if (head.length > MAX_LINE_BYTES) {
      yield { excerpt: excerptAt(content, end), line: null, text, credential };
      continue;
    }
    // An entry counts with its id, because another id behind the same name is a different one.
    const entry = end <= nul ? head : content.subarray(start, nul + 1 + ID_BYTES);
    yield { excerpt: head.slice(head.indexOf(SPACE) + 1), line: latin1(entry), text, credential };
  }
}

/** Returns a line without white space around it, or null if it is too long. */
function lineAt(content: Uint8Array, end: number): string | null {
  const from = Math.max(0, end - MAX_LINE_BYTES);
  const around = content.subarray(from, end + MAX_LINE_BYTES);
  const before = around.lastIndexOf(LF, end - from - 1);
  const after = around.indexOf(LF, end - from);
  const isWhole = (before >= 0 || from === 0) && (after >= 0 || from + around.length === content.length);
  return isWhole ? latin1(around.subarray(before + 1, after < 0 ? around.length : after)).trim() : null;
}

/**
 * Shortens the line around a hit.
 * @param end is the end of the hit.
 */
export function excerptAt(content: Uint8Array, end: number): Uint8Array {
  const shown = content.subarray(Math.max(0, end - SHOWN_BEFORE), end + 1 + SHOWN_AFTER);
  const at = Math.min(end, SHOWN_BEFORE);
  const lineEnd = shown.indexOf(LF, at);
  return shown.slice(shown.lastIndexOf(LF, at - 1) + 1, lineEnd < 0 ? shown.length : lineEnd);
}
