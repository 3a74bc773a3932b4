/**
 * Reads and writes the report of a push (gitprotocol-pack, "Report Status"). In version 2, option
 * lines may follow an `ok`.
 */
import type { ByteReader } from './byte-reader.ts';
import { concatBytes, decodeUtf8, encodeEscaped, utf8 } from '../bytes.ts';
import { encodePktLine, FLUSH_PKT, readPacket } from './pkt-line.ts';
import { badRequest } from './protocol-error.ts';

/** The outcome for one ref. `reason` is null if the ref was updated. */
export interface CommandStatus {
  readonly refName: string;
  readonly reason: string | null;
  /** The ref that the server updated instead. */
  readonly updatedRef?: string;
}

export interface ReportStatus {
  /** The status of the pack: `ok`, or the reason why it was refused. */
  readonly unpackStatus: string;
  readonly commandStatuses: readonly CommandStatus[];
}

export function encodeReportStatus({ unpackStatus, commandStatuses }: ReportStatus): Uint8Array {
  const lines = commandStatuses.map(({ refName, reason }) => {
    const [word, rest] = reason === null ? ['ok', ''] : ['ng', ` ${reason}`];
    // The name is sent back byte for byte, because Git compares it with what it sent.
    return encodePktLine(concatBytes([utf8(`${word} `), encodeEscaped(refName), utf8(`${rest}\n`)]));
  });
  return concatBytes([encodePktLine(`unpack ${unpackStatus}\n`), ...lines, FLUSH_PKT]);
}

/**
 * Reads a report up to its flush.
 * @throws ProtocolError `bad-request`
 */
export async function readReportStatus(reader: ByteReader): Promise<ReportStatus> {
  let unpackStatus: string | null = null;
  const commandStatuses: CommandStatus[] = [];
  for (;;) {
    const packet = await readPacket(reader);
    if (packet.kind === 'flush') break;
    const line = packet.kind === 'data' ? decodeUtf8(packet.payload)?.replace(/\n$/, '') : undefined;
    const [, word, first = '', rest] = /^(unpack|ok|ng|option) (\S+)(?: (.*))?$/.exec(line ?? '') ?? [];
    const last = commandStatuses.at(-1);
    if (word === 'unpack') unpackStatus = rest === undefined ? first : `${first} ${rest}`;
    else if (word === 'ok') commandStatuses.push({ refName: first, reason: null });
    else if (word === 'ng') commandStatuses.push({ refName: first, reason: rest ?? 'refused' });
    else if (word !== 'option' || last === undefined)
      throw badRequest('A line of the report-status is malformed.');
    else if (first === 'refname' && rest !== undefined) {
      commandStatuses.splice(-1, 1, { ...last, updatedRef: rest });
    }
  }
  if (unpackStatus === null) throw badRequest('The report-status has no unpack line.');
  return { unpackStatus, commandStatuses };
}
