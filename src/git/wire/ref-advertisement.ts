/**
 * Advertises upstream's refs for a push (gitprotocol-pack, "Reference Discovery"), and commits of
 * its history as `.have`, so that Git finds a common base even in an old clone.
 */
import { type Oid, ZERO_OID } from '../objects/oid.ts';
import { pktLengthDigits } from './pkt-line.ts';

/**
 * Capabilities that the service offers. A push certificate would name the person who pushes, and an
 * agent or session id would be useless.
 */
const CAPABILITIES = 'report-status delete-refs side-band-64k quiet ofs-delta push-options';

export interface Ref {
  readonly name: string;
  readonly oid: Oid;
}

/** Gives the name of a branch, as people write it. */
export function branchName({ name }: Ref): string {
  return name.slice('refs/heads/'.length);
}

/**
 * Encodes the advertisement. It makes each line twice, first to count its bytes: tens of thousands
 * of lines as texts would take ten times the memory of their bytes.
 */
export function encodeReceivePackAdvertisement(refs: readonly Ref[], haves: readonly Oid[]): Uint8Array {
  let bytes = 0;
  for (const line of linesOf(refs, haves)) bytes += Buffer.byteLength(line);
  const advertisement = new Uint8Array(bytes);
  const encoder = new TextEncoder();
  let at = 0;
  for (const line of linesOf(refs, haves)) at += encoder.encodeInto(line, advertisement.subarray(at)).written;
  return advertisement;
}

function* linesOf(refs: readonly Ref[], haves: readonly Oid[]): Generator<string> {
  yield `${pktLine('# service=git-receive-pack\n')}0000`;
  const advertised = new Set<Oid>();
  let capabilities = `\0${CAPABILITIES}`;
  const line = (oid: Oid, name: string): string => {
    const payload = `${oid} ${name}${capabilities}\n`;
    capabilities = '';
    return pktLine(payload);
  };
  for (const { oid, name } of refs) {
    advertised.add(oid);
    yield line(oid, name);
  }
  for (const oid of haves) if (!advertised.has(oid)) yield line(oid, '.have');
  if (capabilities !== '') yield line(ZERO_OID, 'capabilities^{}');
  yield '0000';
}

function pktLine(payload: string): string {
  return pktLengthDigits(Buffer.byteLength(payload)) + payload;
}

const DENSE = 64;
const PER_STEP = 32;
const MAX_HAVES = 200;

/**
 * Selects commits for `.have` lines: all of the newest, then fewer and fewer. 200 lines take 10 KB
 * and cover some 1,300 commits.
 */
export function selectHaves(newestFirst: readonly Oid[]): Oid[] {
  const haves: Oid[] = [];
  let step = 1;
  for (let index = 0; index < newestFirst.length && haves.length < MAX_HAVES; index += step) {
    haves.push(newestFirst[index] as Oid);
    if (haves.length >= DENSE && (haves.length - DENSE) % PER_STEP === 0) step *= 2;
  }
  return haves;
}
