/**
 * The side-band: a pkt-line stream with three bands (gitprotocol-pack, "Packfile Data"). Git shows
 * the text of bands 2 and 3 after `remote: `.
 */
import type { ByteReader } from './byte-reader.ts';
import { concatBytes, NO_BYTES, utf8 } from '../bytes.ts';
import { MAX_PKT_PAYLOAD_BYTES, pktLengthDigits, readPacket, refuseErrorPacket } from './pkt-line.ts';
import { badRequest } from './protocol-error.ts';

export const BAND_DATA = 1;
export const BAND_PROGRESS = 2;
export const BAND_ERROR = 3;
export type Band = typeof BAND_DATA | typeof BAND_PROGRESS | typeof BAND_ERROR;

const MAX_BAND_DATA_BYTES = MAX_PKT_PAYLOAD_BYTES - 1;

/**
 * An empty packet of band 1, which clients ignore. Git's own receive-pack sends it, too
 * (receive.keepAlive).
 */
export const KEEP_ALIVE: Uint8Array = Uint8Array.of(...utf8(pktLengthDigits(1)), BAND_DATA);

export function encodeBand(band: Band, data: string | Uint8Array): Uint8Array {
  const bytes = typeof data === 'string' ? utf8(data) : data;
  const parts: Uint8Array[] = [];
  for (let offset = 0; offset < bytes.byteLength; offset += MAX_BAND_DATA_BYTES) {
    const piece = bytes.subarray(offset, offset + MAX_BAND_DATA_BYTES);
    parts.push(utf8(pktLengthDigits(piece.byteLength + 1)), Uint8Array.of(band), piece);
  }
  return concatBytes(parts);
}

/**
 * Reads the packets of a side-band stream up to its flush.
 * @param reuse lets all packets share a buffer. The data of each must then be used before the next
 * is read.
 * @throws ProtocolError `bad-request`, ErrorPacket
 */
export async function* readBands(
  reader: ByteReader,
  reuse = false,
): AsyncGenerator<{ band: Band; data: Uint8Array }> {
  const buffer = reuse ? new Uint8Array(MAX_PKT_PAYLOAD_BYTES) : undefined;
  for (;;) {
    const packet = await readPacket(reader, buffer);
    if (packet.kind === 'flush') return;
    const payload = packet.kind === 'data' ? packet.payload : NO_BYTES;
    refuseErrorPacket(payload);
    const [band] = payload;
    if (band !== BAND_DATA && band !== BAND_PROGRESS && band !== BAND_ERROR) {
      throw badRequest('A side-band packet names no band.');
    }
    yield { band, data: payload.subarray(1) };
  }
}
