/**
 * Reference discovery for a push: upstream's refs, in the form of a receive-pack advertisement (gitprotocol-http,
 * "Smart Server Response"; gitprotocol-pack, "Reference Discovery").
 *
 * `.have` lines name further commits that upstream has. A client whose clone is stale finds its own base among
 * them and sends only its work; without them it would send the whole history.
 */
import { concatBytes } from './bytes.ts';
import { type Oid, ZERO_OID } from './oid.ts';
import { encodePktLine, FLUSH_PKT } from './pkt-line.ts';

/** Only these: a push certificate would name the pusher, and an agent or session id would be useless. */
const CAPABILITIES = 'report-status delete-refs side-band-64k quiet ofs-delta push-options';

export interface Ref {
  readonly name: string;
  readonly oid: Oid;
}

export function encodeReceivePackAdvertisement(refs: readonly Ref[], haves: readonly Oid[]): Uint8Array {
  const advertised = new Set(refs.map((ref) => ref.oid));
  const lines = [
    ...refs.map((ref) => `${ref.oid} ${ref.name}`),
    ...haves.filter((oid) => !advertised.has(oid)).map((oid) => `${oid} .have`),
  ];
  if (lines.length === 0) lines.push(`${ZERO_OID} capabilities^{}`);
  return concatBytes([
    encodePktLine('# service=git-receive-pack\n'),
    FLUSH_PKT,
    ...lines.map((line, index) => encodePktLine(index === 0 ? `${line}\0${CAPABILITIES}\n` : `${line}\n`)),
    FLUSH_PKT,
  ]);
}
