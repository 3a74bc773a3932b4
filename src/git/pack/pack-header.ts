/**
 * The header of a pack (gitformat-pack, "pack-*.pack files"), and the error of everything that is wrong with a pack.
 */
import { ProtocolError } from '../protocol-error.ts';

export const PACK_HEADER_BYTES = 12;
const PACK_SIGNATURE = 0x5041434b;
const PACK_VERSION = 2;

export function badPack(message: string): ProtocolError {
  return new ProtocolError('bad-pack', `${message} Push again.`);
}

/**
 * The number of entries.
 * @param bytes at least PACK_HEADER_BYTES. @throws ProtocolError `bad-pack` unless they begin with a header of version
 * 2.
 */
export function parsePackHeader(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  if (view.getUint32(0) !== PACK_SIGNATURE || view.getUint32(4) !== PACK_VERSION) {
    throw badPack('What follows the commands is not a pack of version 2.');
  }
  return view.getUint32(8);
}
