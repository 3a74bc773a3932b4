/**
 * pkt-lines, side-bands and report-status, byte by byte (gitprotocol-common, gitprotocol-pack):
 * requests made by hand are written with it, and answers read. Nothing here comes from src, so that
 * a mistake of the service's own reader cannot hide one of its writer. The contract's suite has its
 * own, because it imports nothing from here.
 */

export const ZERO_ID = '0'.repeat(40);
/** As characters of one byte each. */
export const FLUSH = '0000';

/** Writes one pkt-line, in characters of one byte each. Null is a flush. */
export function pktText(payload: string | Uint8Array | null): string {
  if (payload === null) return FLUSH;
  const text = typeof payload === 'string' ? payload : Buffer.from(payload).toString('latin1');
  return (text.length + 4).toString(16).padStart(4, '0') + text;
}

/** Writes one pkt-line; a string as UTF-8. Null is a flush. */
export function pkt(payload: string | Uint8Array | null): Buffer {
  return Buffer.from(pktText(payload === null ? null : Buffer.from(payload)), 'latin1');
}

/**
 * Reads the pkt-lines of a body; null stands for a flush.
 * @throws Error on anything else.
 */
export function readPkts(body: Uint8Array): (Buffer | null)[] {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const lines: (Buffer | null)[] = [];
  for (let at = 0; at < bytes.length;) {
    const digits = bytes.toString('latin1', at, at + 4);
    if (!/^[0-9a-f]{4}$/.test(digits))
      throw new Error(`no pkt-line at byte ${at}: ${JSON.stringify(digits)}`);
    const length = Number.parseInt(digits, 16);
    if (length === 0) lines.push(null);
    else {
      if (length < 4 || at + length > bytes.length) throw new Error(`a pkt-line of ${length} at byte ${at}`);
      lines.push(bytes.subarray(at + 4, at + length));
    }
    at += Math.max(4, length);
  }
  return lines;
}

/** Answer to a push. */
export interface PushReport {
  /** Lines of report-status, in band 1: `unpack ok`, `ok <ref>`, `ng <ref> <reason>`. */
  readonly report: readonly string[];
  /** Lines of band 2, which Git shows behind `remote:`. */
  readonly progress: readonly string[];
  /** Lines of band 3. */
  readonly errors: readonly string[];
}

/** Reads the answer to a client that has named side-band-64k. */
export function readReport(body: Uint8Array): PushReport {
  const packets = readPkts(body);
  if (packets.pop() !== null) throw new Error(`no flush at the end: ${Buffer.from(body).toString()}`);
  const band = (wanted: number): Buffer =>
    Buffer.concat(packets.flatMap((packet) => (bandOf(packet) === wanted ? [packet!.subarray(1)] : [])));
  return {
    report: readStatus(band(1)),
    progress: linesOf(band(2).toString()),
    errors: linesOf(band(3).toString()),
  };
}

function bandOf(packet: Buffer | null): number {
  const band = packet?.[0];
  if (band === undefined || band < 1 || band > 3) throw new Error('a packet of no band');
  return band;
}

/** Reads the report-status of a client without side-band. An empty one has no lines. */
export function readStatus(section: Uint8Array): string[] {
  const packets = readPkts(section);
  if (packets.length > 0 && packets.pop() !== null) throw new Error('the report does not end in a flush');
  return packets.map((packet) => {
    if (packet === null) throw new Error('the report has a flush within');
    return packet.toString().replace(/\n$/, '');
  });
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}
