/**
 * Reads what the host answers in Git's own protocol: packs of objects and of history, and the
 * report on a push.
 * Proved by test/host/git/git-transport.test.ts.
 */
import { concatBytes } from '../../git/bytes.ts';
import { parseHistory } from '../../git/objects/commit.ts';
import { CommitTable } from '../../git/objects/commit-table.ts';
import type { Oid } from '../../git/objects/oid.ts';
import type { KeptObject } from '../../git/pack/kept-objects.ts';
import { NAMED_BASE_BYTES } from '../../git/pack/memory-limits.ts';
import { PackScanner } from '../../git/pack/pack-scanner.ts';
import { Conventions } from '../../git/search/conventions.ts';
import { ByteReader, sourceOf } from '../../git/wire/byte-reader.ts';
import { ErrorPacket } from '../../git/wire/pkt-line.ts';
import { ProtocolError, tooLarge } from '../../git/wire/protocol-error.ts';
import { readFetchSections } from '../../git/wire/protocol-v2.ts';
import { readReportStatus, type ReportStatus } from '../../git/wire/report-status.ts';
import { BAND_DATA, readBands } from '../../git/wire/side-band.ts';
import type { MemoryHold } from '../../isolate/memory-budget.ts';
import { BodyError } from '../../streams/body-error.ts';

/** Maximum size of one listing's inflated commits, with what each takes besides: some 45,000. */
const MAX_LISTED_BYTES = 18 * 1024 * 1024;
/**
 * Memory of a listed commit without its content: its place among the objects, its date and its
 * parents.
 */
const LISTED_COMMIT_BYTES = 160;
/**
 * Maximum number of ids in one listing. A commit may name thousands of parents that are not listed.
 * With its tips and conventions, the largest must have room in memory (upstream/history-cache.ts).
 */
const MAX_LISTED_IDS = 90_000;
/** Memory that is claimed before each packet: more than its commits usually take. */
const LISTING_ROOM_BYTES = 512 * 1024;
/** Maximum number of bases in a listing that come after their deltas. Git sends few if any. */
const MAX_BASES_AHEAD = 10_000;

export interface PushReport extends ReportStatus {
  /** Other messages of the host, for instance about the rule that it applied. */
  readonly messages: string;
}

export interface ListedHistory {
  readonly kind: 'listed';
  readonly commits: CommitTable;
  /** Trailers' keys and links' servers in the newest messages (git/search/conventions.ts). */
  readonly conventions: ReadonlySet<string>;
}

export type HistoryAnswer =
  | ListedHistory
  /** No commit is new enough. Git's answer then ends before the pack. */
  | { readonly kind: 'none-selected' }
  /** The answer is too large. `oldestAt` is the date of the oldest commit that was read. */
  | { readonly kind: 'too-large'; readonly oldestAt: number };

export async function readPushReport(reader: ByteReader): Promise<PushReport> {
  const report: Uint8Array[] = [];
  let messages = '';
  const decoder = new TextDecoder();
  for await (const { band, data } of readBands(reader)) {
    if (band === BAND_DATA) report.push(data);
    else messages += decoder.decode(data);
  }
  return { ...(await readReportStatus(new ByteReader(sourceOf(concatBytes(report))))), messages };
}

/** Reads the objects of a pack by their ids, or returns null if they are too large. */
export async function readPackedObjects(
  reader: ByteReader,
  memory: MemoryHold,
  maxBytes: number,
): Promise<ReadonlyMap<Oid, KeptObject> | null> {
  const objects = new Map<Oid, KeptObject>();
  const claim = memory.claim();
  const scanner = new PackScanner({
    keeps: 'everything',
    limits: { maxBytes },
    onKept: ({ type, oid, content }) => objects.set(oid, { type, oid, content: content.slice() }),
  });
  try {
    // Claim once for all objects, and for the copies of them.
    await claim.set(2 * maxBytes);
    if (!(await readFetchSections(reader)))
      throw new ProtocolError('bad-pack', 'The code host sent no pack.');
    for await (const { band, data } of readBands(reader)) {
      if (band === BAND_DATA) await scanned(scanner, data, memory);
      if (scanner.namedBases.size > 0) throw withoutBases();
    }
    scanner.finish();
    return objects;
  } catch (error) {
    if (isTooLarge(error)) return null;
    throw error;
  } finally {
    scanner.kept.free();
    claim.setNow(0);
  }
}

/**
 * Reads commits without their trees.
 * @param onWait is called before it waits for memory.
 */
export async function readHistory(
  reader: ByteReader,
  memory: MemoryHold,
  onWait: () => void,
): Promise<HistoryAnswer> {
  const commits = new CommitTable();
  const conventions = new Conventions();
  const scanner = new PackScanner({
    limits: { maxBytes: MAX_LISTED_BYTES, objectBytes: LISTED_COMMIT_BYTES, memory },
    onKept: ({ type, oid, content }) => {
      if (type !== 'commit') return;
      commits.add({ oid, ...parseHistory(content) });
      if (commits.idCount > MAX_LISTED_IDS) throw tooLarge('The code host listed too many parents.');
      conventions.add(content);
    },
  });
  try {
    if (!(await readFetchSections(reader))) return { kind: 'none-selected' };
    for await (const { band, data } of readBands(reader, true)) {
      const basesBytes = NAMED_BASE_BYTES * scanner.namedBases.size;
      await scanner.kept.makeRoom(LISTING_ROOM_BYTES + basesBytes, onWait);
      if (band === BAND_DATA) await scanned(scanner, data, memory);
      if (scanner.namedBases.size > MAX_BASES_AHEAD) throw withoutBases();
    }
    scanner.finish();
    return { kind: 'listed', commits, conventions: conventions.all };
  } catch (error) {
    if (isTooLarge(error)) return { kind: 'too-large', oldestAt: commits.oldestAt };
    const isNone = error instanceof ErrorPacket && /no commits selected/.test(error.text);
    if (isNone) return { kind: 'none-selected' };
    throw error;
  } finally {
    scanner.kept.free();
  }
}

/** Scans a part of an answer's pack, and counts what has come out of it. */
async function scanned(scanner: PackScanner, data: Uint8Array, memory: MemoryHold): Promise<void> {
  const { bytes } = scanner.kept;
  scanner.scan(data);
  await memory.worked(scanner.kept.bytes - bytes, true);
}

function withoutBases(): ProtocolError {
  return new ProtocolError('bad-pack', 'The code host sent differences without their bases.');
}

/** Tells if an answer, or its content, is too large. */
export function isTooLarge(error: unknown): boolean {
  return (error instanceof BodyError || error instanceof ProtocolError) && error.code === 'too-large';
}
