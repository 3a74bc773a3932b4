/**
 * The error packet: it may stand wherever a pkt-line may, and ends the conversation (gitprotocol-pack, "pkt-line
 * Format").
 */
import { decodeUtf8, utf8 } from './bytes.ts';

export class ErrorPacket extends Error {
  override readonly name = 'ErrorPacket';
  /** The other side's own words, not made fit for a terminal. */
  readonly text: string;

  constructor(text: string) {
    super('the other side sent an error packet');
    this.text = text;
  }
}

const START = utf8('ERR ');

/** @throws ErrorPacket if the payload of a pkt-line is one. */
export function refuseErrorPacket(payload: Uint8Array): void {
  if (START.every((byte, at) => payload[at] === byte)) {
    throw new ErrorPacket((decodeUtf8(payload.subarray(START.length)) ?? '').replace(/\n$/, ''));
  }
}
