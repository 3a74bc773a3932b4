/** The error for every fault of a zlib stream. The client sees it, so it says what to do. */
import { ProtocolError } from '../wire/protocol-error.ts';

/** @param fault what is wrong, in the words of RFC 1950 and RFC 1951. */
export function damagedData(fault: string): ProtocolError {
  return new ProtocolError('bad-pack', `The pack contains damaged compressed data (${fault}). Push again.`);
}
