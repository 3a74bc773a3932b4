/**
 * Reference discovery for a push: upstream's refs, in the form of a receive-pack advertisement (gitprotocol-http,
 * "Smart Server Response"; gitprotocol-pack, "Reference Discovery").
 *
 * `.have` lines name further commits that upstream has. A client whose clone is stale finds its own base among
 * them and sends only its work; without them it would send the whole history.
 */
import { ByteSlabs } from '../byte-slabs.ts';
import { concatBytes } from '../bytes.ts';
import { type Oid, ZERO_OID } from '../objects/oid.ts';
import { encodePktLine, FLUSH_PKT, pktLengthDigits } from './pkt-line.ts';

/** Only these: a push certificate would name the pusher, and an agent or session id would be useless. */
const CAPABILITIES = 'report-status delete-refs side-band-64k quiet ofs-delta push-options';

const encoder = new TextEncoder();

export interface Ref {
  readonly name: string;
  readonly oid: Oid;
}

export function encodeReceivePackAdvertisement(refs: readonly Ref[], haves: readonly Oid[]): Uint8Array {
  const lines = new LineSlabs();
  const advertised = new Set<Oid>();
  for (const { oid, name } of refs) {
    advertised.add(oid);
    lines.add(oid, name);
  }
  for (const oid of haves) if (!advertised.has(oid)) lines.add(oid, '.have');
  if (lines.isEmpty) lines.add(ZERO_OID, 'capabilities^{}');
  return concatBytes([
    encodePktLine('# service=git-receive-pack\n'),
    FLUSH_PKT,
    ...lines.pieces(),
    FLUSH_PKT,
  ]);
}

/** pkt-lines of refs in slabs: thousands of arrays of their own would take ten times the memory. */
class LineSlabs {
  readonly #slabs = new ByteSlabs();
  isEmpty = true;

  add(oid: Oid, name: string): void {
    const payload = this.isEmpty ? `${oid} ${name}\0${CAPABILITIES}\n` : `${oid} ${name}\n`;
    const payloadBytes = Buffer.byteLength(payload);
    const line = pktLengthDigits(payloadBytes) + payload;
    encoder.encodeInto(line, this.#slabs.take(line.length - payload.length + payloadBytes));
    this.isEmpty = false;
  }

  pieces(): readonly Uint8Array[] {
    return this.#slabs.pieces();
  }
}
