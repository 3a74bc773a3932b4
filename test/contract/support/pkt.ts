/** pkt-lines and side-bands, byte by byte (gitprotocol-common, gitprotocol-pack). */

export const ZERO_ID = '0'.repeat(40);
export const FLUSH = Buffer.from('0000');

export function pkt(payload: string | Uint8Array): Buffer {
  const bytes = Buffer.from(payload);
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes]);
}

/** The payloads of a body; null stands for a flush. */
export function readPkts(body: Buffer): (Buffer | null)[] {
  const lines: (Buffer | null)[] = [];
  for (let at = 0; at < body.length;) {
    const digits = body.toString('latin1', at, at + 4);
    if (!/^[0-9a-f]{4}$/.test(digits))
      throw new Error(`no pkt-line at byte ${at}: ${JSON.stringify(digits)}`);
    const length = Number.parseInt(digits, 16);
    if (length === 0) lines.push(null);
    else {
      if (length < 4 || at + length > body.length) throw new Error(`a pkt-line of ${length} at byte ${at}`);
      lines.push(body.subarray(at + 4, at + length));
    }
    at += Math.max(4, length);
  }
  return lines;
}

export interface PushReport {
  /**
   * Lines of band 1, which are pkt-lines themselves: `unpack ok`, `ok <ref>`, `ng <ref> <reason>`.
   */
  readonly report: readonly string[];
  /** Lines of band 2, which Git shows behind `remote:`. */
  readonly progress: readonly string[];
  /** Lines of band 3. */
  readonly errors: readonly string[];
}

/** The answer to a push of a client that has named side-band-64k. */
export function readReport(body: Buffer): PushReport {
  const packets = readPkts(body);
  if (packets.at(-1) !== null) throw new Error(`no flush at the end: ${body.toString()}`);
  const bands = [1, 2, 3].map((band) =>
    Buffer.concat(
      packets.slice(0, -1).map((packet) => {
        if (packet === null || ![1, 2, 3].includes(packet[0] as number))
          throw new Error('a packet of no band');
        return packet[0] === band ? packet.subarray(1) : Buffer.alloc(0);
      }),
    ),
  ) as [Buffer, Buffer, Buffer];
  return { report: readStatus(bands[0]), progress: linesOf(bands[1]), errors: linesOf(bands[2]) };
}

function readStatus(section: Buffer): string[] {
  const lines = readPkts(section);
  if (lines.length > 0 && lines.pop() !== null) throw new Error('the report does not end in a flush');
  return lines.map((line) => (line ?? '').toString().replace(/\n$/, ''));
}

function linesOf(text: Buffer): string[] {
  return text.length === 0 ? [] : text.toString().replace(/\n$/, '').split('\n');
}
