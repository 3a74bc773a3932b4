/** The line of the log in which the Worker of stored-worker.ts tells the bytes of a verdict. */
const MARK = 'verdict ';

export function verdictLine(bytes: Uint8Array): string {
  return MARK + Buffer.from(bytes).toString('base64');
}

/** Reads the bytes of a verdict; null: this is another line. */
export function verdictOf(line: string): Buffer | null {
  return line.startsWith(MARK) ? Buffer.from(line.slice(MARK.length), 'base64') : null;
}
