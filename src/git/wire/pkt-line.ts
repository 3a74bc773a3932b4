/**
 * Reads and writes pkt-lines: four hexadecimal digits with the length, themselves included, then
 * the payload (gitprotocol-common, "pkt-line Format"). A length of 3, over 65,520 or that is no
 * number is an error. `0004` is empty data, not a flush. An error packet may stand in place of any
 * pkt-line, and ends the conversation (gitprotocol-pack).
 */
import type { ByteReader } from './byte-reader.ts';
import { concatBytes, decodeUtf8, HEX_VALUES, utf8 } from '../bytes.ts';
import { badRequest, ProtocolError } from './protocol-error.ts';

export const LENGTH_BYTES = 4;
/** Maximum length of a pkt-line, its digits included. */
export const MAX_PKT_LINE_BYTES = 65_520;
export const MAX_PKT_PAYLOAD_BYTES = MAX_PKT_LINE_BYTES - LENGTH_BYTES;

export const FLUSH_PKT = utf8('0000');
export const DELIM_PKT = utf8('0001');

/** Meanings of the lengths 0 to 2. */
const SPECIAL = ['flush', 'delim', 'response-end'] as const;

export type Packet =
  { readonly kind: 'data'; readonly payload: Uint8Array } | { readonly kind: (typeof SPECIAL)[number] };

/** Encodes the length of a pkt-line. */
export function pktLengthDigits(payloadBytes: number): string {
  if (payloadBytes > MAX_PKT_PAYLOAD_BYTES) throw new RangeError('pkt-line payload too long');
  return (payloadBytes + LENGTH_BYTES).toString(16).padStart(LENGTH_BYTES, '0');
}

export function encodePktLine(payload: string | Uint8Array): Uint8Array {
  const bytes = typeof payload === 'string' ? utf8(payload) : payload;
  return concatBytes([utf8(pktLengthDigits(bytes.byteLength)), bytes]);
}

/**
 * Decodes the length of a pkt-line.
 * @param codeAt returns the ASCII codes of its four digits.
 * @throws ProtocolError `bad-request`
 */
export function readPktLength(codeAt: (index: number) => number): number {
  let length = 0;
  for (let i = 0; i < LENGTH_BYTES; i++) {
    const digit = HEX_VALUES[codeAt(i)]!;
    if (digit < 0) throw notPktLine();
    length = length * 16 + digit;
  }
  if (length === SPECIAL.length || length > MAX_PKT_LINE_BYTES) throw notPktLine();
  return length;
}

/**
 * Reads the next packet. Its payload is a copy.
 * @param buffer takes the payload, if it is used before the next read. It has
 * MAX_PKT_PAYLOAD_BYTES.
 * @throws ProtocolError `bad-request`
 */
export async function readPacket(reader: ByteReader, buffer?: Uint8Array): Promise<Packet> {
  const digits = await reader.readExactly(LENGTH_BYTES);
  if (digits === null) throw endedEarly();
  const length = readPktLength((index) => digits[index] as number);
  const special = SPECIAL[length];
  if (special !== undefined) return { kind: special };
  const payload = await reader.readExactly(length - LENGTH_BYTES, buffer);
  if (payload === null) throw endedEarly();
  return { kind: 'data', payload };
}

/**
 * Takes the payload of the next packet, if it is data and has arrived whole. The promises of
 * `readPacket` would leave more garbage than a list of tens of thousands of refs takes.
 * @returns a view that is valid until the next read, or null if `readPacket` is needed.
 * @throws ProtocolError `bad-request`
 */
export function takePayload(reader: ByteReader): Uint8Array | null {
  const digits = reader.peek(LENGTH_BYTES);
  const length = digits === null ? 0 : readPktLength((index) => digits[index] as number);
  if (length < LENGTH_BYTES) return null;
  const payload = reader.peek(length)?.subarray(LENGTH_BYTES) ?? null;
  if (payload !== null) reader.skip(length);
  return payload;
}

export const notPktLine = (): ProtocolError =>
  badRequest('The request is not in pkt-line format. Use an ordinary Git client.');
export const endedEarly = (): ProtocolError =>
  badRequest('The request ended before its last pkt-line. Try again.');

export class ErrorPacket extends Error {
  override readonly name = 'ErrorPacket';
  /** The text as the other side sent it, not yet safe for a terminal. */
  readonly text: string;

  constructor(text: string) {
    super('the other side sent an error packet');
    this.text = text;
  }
}

const ERROR_START = utf8('ERR ');

/**
 * Rejects an error packet.
 * @throws ErrorPacket
 */
export function refuseErrorPacket(payload: Uint8Array): void {
  if (ERROR_START.every((byte, at) => payload[at] === byte)) {
    throw new ErrorPacket((decodeUtf8(payload.subarray(ERROR_START.length)) ?? '').replace(/\n$/, ''));
  }
}
