/** Reads requests of Git's protocol version 2 (gitprotocol-v2), and writes the lines of answers. */

/** Writes a pkt-line (gitprotocol-common); the text as UTF-8. */
export const pkt = (text: string): string =>
  `${(Buffer.byteLength(text) + 4).toString(16).padStart(4, '0')}${text}`;

export const pktLine = (line: string): string => pkt(`${line}\n`);

/**
 * Reads the arguments of a command. `null` if the command is another, or not in the form in which
 * clients send it.
 */
export function argumentsOf(command: string, body: Buffer): string[] | null {
  const lines = pktLinesOf(body);
  if (lines?.[0] !== `command=${command}`) return null;
  const delimiter = lines.indexOf('');
  const isPlain = lines
    .slice(1, delimiter)
    .every((line) => line.startsWith('agent=') || line === 'object-format=sha1');
  return isPlain && delimiter > 0 ? lines.slice(delimiter + 1) : null;
}

/**
 * Most lines that are read here. Reading more takes longer than starting git, which then answers.
 */
const MOST_LINES = 10_000;

/**
 * Reads the lines up to the flush packet at the end. A delimiter is an empty line. `null` if there
 * is more than that, or less.
 */
function pktLinesOf(body: Buffer): string[] | null {
  const lines: string[] = [];
  let position = 0;
  while (position + 4 <= body.length && lines.length < MOST_LINES) {
    const length = Number.parseInt(body.toString('latin1', position, position + 4), 16);
    if (length === 0) return position + 4 === body.length ? lines : null;
    if (length !== 1 && !(length > 4)) return null;
    lines.push(body.toString('utf8', position + 4, position + length).replace(/\n$/, ''));
    position += Math.max(4, length);
  }
  return null;
}
