/**
 * pkt-lines: four hex digits with the length (including themselves), then the payload
 * (gitprotocol-common, "pkt-line Format"). A length of 3 or over 65,520, or one that is no number,
 * ends the request. `0004` is data of length 0, not a flush. An error packet may stand wherever a
 * pkt-line may, and ends the conversation (gitprotocol-pack).
 */
import type { ByteReader } from './byte-reader.ts';
import { concatBytes, decodeUtf8, HEX_VALUES, utf8 } from '../bytes.ts';
import { badRequest, ProtocolError } from './protocol-error.ts';

export const LENGTH_BYTES = 4;
/** A whole pkt-line, its length digits included. */
export const MAX_PKT_LINE_BYTES = 65_520;
export const MAX_PKT_PAYLOAD_BYTES = MAX_PKT_LINE_BYTES - LENGTH_BYTES;

export const FLUSH_PKT = utf8('0000');
export const DELIM_PKT = utf8('0001');

/** What the lengths 0 to 2 mean. */
const SPECIAL = ['flush', 'delim', 'response-end'] as const;

export type Packet =
  { readonly kind: 'data'; readonly payload: Uint8Array } | { readonly kind: (typeof SPECIAL)[number] };

/** The length digits of a pkt-line whose payload has `payloadBytes` bytes. */
export function pktLengthDigits(payloadBytes: number): string {
  if (payloadBytes > MAX_PKT_PAYLOAD_BYTES) throw new RangeError('pkt-line payload too long');
  return (payloadBytes + LENGTH_BYTES).toString(16).padStart(LENGTH_BYTES, '0');
}

export function encodePktLine(payload: string | Uint8Array): Uint8Array {
  const bytes = typeof payload === 'string' ? utf8(payload) : payload;
  return concatBytes([utf8(pktLengthDigits(bytes.byteLength)), bytes]);
}

/**
 * @param codeAt the four digits in ASCII.
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
 * The next packet of the stream. The payload is a copy of its own.
 * @throws ProtocolError `bad-request`
 * @param buffer where to put the payload, if it is used up before the next read; of
 * MAX_PKT_PAYLOAD_BYTES.
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
 * The payload of the next packet if it is data and has arrived whole: a view, valid until the next
 * read. Null: ask `readPacket`, whose promises leave more behind than a list of tens of thousands
 * of refs.
 * @throws ProtocolError
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
  badRequest('The request is not in pkt-line format. Push with an ordinary Git client.');
export const endedEarly = (): ProtocolError =>
  badRequest('The request ended before its last pkt-line. Push again.');

export class ErrorPacket extends Error {
  override readonly name = 'ErrorPacket';
  /** The other side's own words, not yet safe for a terminal. */
  readonly text: string;

  constructor(text: string) {
    super('the other side sent an error packet');
    this.text = text;
  }
}

const ERROR_START = utf8('ERR ');

export function refuseErrorPacket(payload: Uint8Array): void {
  if (ERROR_START.every((byte, at) => payload[at] === byte)) {
    throw new ErrorPacket((decodeUtf8(payload.subarray(ERROR_START.length)) ?? '').replace(/\n$/, ''));
  }
}
