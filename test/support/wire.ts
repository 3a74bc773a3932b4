/**
 * pkt-lines and side-bands once more, small and apart from src: requests made by hand are written with it, and
 * answers read, so that a mistake of the service's own reader cannot hide one of its writer.
 */

export const FLUSH = '0000';

/** One pkt-line. Strings are Latin-1: each character is a byte. */
export function pkt(payload: string | Uint8Array): string {
  const text = typeof payload === 'string' ? payload : Buffer.from(payload).toString('latin1');
  return (text.length + 4).toString(16).padStart(4, '0') + text;
}

/** The pkt-lines in `bytes`: payloads, and null for each flush. Throws on anything else. */
export function splitPkts(bytes: Uint8Array): (Buffer | null)[] {
  const packets: (Buffer | null)[] = [];
  for (let at = 0; at < bytes.byteLength;) {
    const digits = Buffer.from(bytes.subarray(at, at + 4)).toString('latin1');
    if (!/^[0-9a-f]{4}$/.test(digits)) throw new Error(`no pkt-line at ${at}: ${JSON.stringify(digits)}`);
    const length = Number.parseInt(digits, 16);
    if ((length > 0 && length < 4) || at + length > bytes.byteLength)
      throw new Error(`bad length ${digits} at ${at}`);
    packets.push(length === 0 ? null : Buffer.from(bytes.subarray(at + 4, at + length)));
    at += Math.max(4, length);
  }
  return packets;
}

/** The answer to a push, as a client understands it. */
export interface PushAnswer {
  readonly unpack: string;
  /** By ref: `ok`, or the reason of the refusal. */
  readonly refs: Readonly<Record<string, string>>;
  /** Band 2, as it is shown behind `remote: `. */
  readonly progress: string;
  /** Band 3. */
  readonly error: string;
}

/** Reads an answer in side-band-64k. Throws if it is not complete. */
export function readPushAnswer(body: Uint8Array): PushAnswer {
  const packets = splitPkts(body);
  if (packets.pop() !== null) throw new Error('the answer does not end in a flush');
  const bands = new Map<number, Buffer[]>([1, 2, 3].map((band) => [band, []]));
  for (const packet of packets) {
    const band = packet === null ? undefined : bands.get(packet[0] ?? 0);
    if (packet === null || band === undefined) throw new Error('a packet of the answer names no band');
    band.push(packet.subarray(1));
  }
  const textOf = (band: number) => Buffer.concat(bands.get(band) ?? []).toString();
  return {
    ...readReport(Buffer.concat(bands.get(1) ?? [])),
    progress: textOf(2),
    error: textOf(3),
  };
}

function readReport(section: Uint8Array): Pick<PushAnswer, 'unpack' | 'refs'> {
  const lines = splitPkts(section);
  if (lines.pop() !== null || lines.includes(null)) throw new Error('the report is not one section');
  const [first, ...rest] = lines.map((line) => (line as Buffer).toString());
  const [, unpack] = /^unpack (.+)\n$/.exec(first ?? '') ?? [];
  if (unpack === undefined) throw new Error(`the report begins with ${JSON.stringify(first)}`);
  const refs: Record<string, string> = {};
  for (const line of rest) {
    const [, ok, ng, reason] = /^(?:ok (\S+)|ng (\S+) (.+))\n$/.exec(line) ?? [];
    const ref = ok ?? ng;
    if (ref === undefined || ref in refs) throw new Error(`the report holds ${JSON.stringify(line)}`);
    refs[ref] = reason ?? 'ok';
  }
  return { unpack, refs };
}
