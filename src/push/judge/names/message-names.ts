/**
 * Finds people who are named in messages that are about to become public. A message is kept byte for byte, so the
 * person is told which of its lines name someone. Only the person is shown these lines.
 */
import { shown, told } from './shown.ts';

/** After so many different names, the search ends. */
const MAX_FOUND = 1_000;
/**
 * Bytes that are read of all messages together. An attacker can compress megabytes of `a@b.a@b.` to a few kilobytes.
 */
const MAX_READ_BYTES = 2 * 1024 * 1024;
/** `Signed-off-by`, `Co-authored-by`, `Reported-by` and every other trailer that ends in `-by`. */
const TRAILER = /^\s*[a-z][a-z-]{0,40}-by:\s*\S/i;
const MAX_LOCAL_LENGTH = 64;
const MAX_DOMAIN_LENGTH = 255;

/** Trailers that name someone, and e-mail addresses elsewhere, in the order of the texts. */
function* namesIn(messages: Iterable<Uint8Array>): Generator<string> {
  const decoder = new TextDecoder();
  let bytesLeft = MAX_READ_BYTES;
  for (const message of messages) {
    for (const line of decoder.decode(message.subarray(0, bytesLeft)).split('\n')) {
      if (TRAILER.test(line)) yield line;
      else if (line.includes('@')) yield* addressesIn(line);
    }
    bytesLeft -= message.byteLength;
    if (bytesLeft <= 0) return;
  }
}

/** Looks only near each `@`: one pattern over a line of megabytes would take too long. */
function* addressesIn(line: string): Generator<string> {
  for (let at = line.indexOf('@'); at >= 0; at = line.indexOf('@', at + 1)) {
    const [domain] =
      /^[\p{L}\d-]+(?:\.[\p{L}\d-]+)+/u.exec(line.slice(at + 1, at + 1 + MAX_DOMAIN_LENGTH)) ?? [];
    if (domain === undefined) continue;
    const [local] =
      /(?<![^\s@<>()[\]",;:])[^\s@<>()[\]",;:]+$/.exec(line.slice(Math.max(0, at - MAX_LOCAL_LENGTH), at)) ??
      [];
    if (local !== undefined) yield `${local}@${domain}`;
  }
}

/**
 * Lines for the person; none if nobody is named. Cost: linear in the messages, and bounded.
 * @param signOff the line that the service itself has added; null: none.
 */
export function warningOfNames(messages: Iterable<Uint8Array>, signOff: string | null): string[] {
  const found = new Set<string>();
  for (const name of namesIn(messages)) {
    if (name !== signOff && found.add(name).size === MAX_FOUND) break;
  }
  return told('Your commit messages become public as they are. They name:', [...found].map(shown));
}
