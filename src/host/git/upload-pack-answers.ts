/** Answers of upload-pack as they are read: listings of history, and a few objects. */
import { ByteReader } from '../../git/wire/byte-reader.ts';
import { parseHistory } from '../../git/objects/commit.ts';
import { CommitTable } from '../../git/objects/commit-table.ts';
import { ErrorPacket } from '../../git/wire/pkt-line.ts';
import type { Oid } from '../../git/objects/oid.ts';
import type { KeptObject } from '../../git/pack/kept-objects.ts';
import { PackScanner } from '../../git/pack/pack-scanner.ts';
import { ProtocolError } from '../../git/wire/protocol-error.ts';
import { readFetchSections } from '../../git/wire/protocol-v2.ts';
import { BAND_DATA, readBands } from '../../git/wire/side-band.ts';
import type { MemoryHold } from '../../isolate/memory-budget.ts';
import { BodyError, chunksOf } from '../../streams/body.ts';
import { HostError } from '../../host-error.ts';
import type { SmartHttp } from './smart-http.ts';

/** What a pack of a few objects has besides them. */
const PACK_OVERHEAD_BYTES = 4 * 1024;

/** What a host says instead of a listing without commits, if it says anything. */
const NONE_SELECTED = /no commits selected/;

/** Commits of one listing, inflated, with what each costs besides: some 45,000. */
const MAX_LISTED_BYTES = 18 * 1024 * 1024;
/** What a listed commit takes besides its content: its place among the objects, its date and its parents. */
const LISTED_COMMIT_BYTES = 160;
/** More than a side-band packet of ordinary commits takes. */
const LISTING_ROOM_BYTES = 512 * 1024;

export type HistoryAnswer =
  | { readonly kind: 'listed'; readonly commits: CommitTable }
  /** No commit is new enough: Git then sends an empty answer. */
  | { readonly kind: 'none-selected' }
  /** `oldestAt`: the date of the oldest commit that was read. */
  | { readonly kind: 'too-large'; readonly oldestAt: number };

/** The objects of a pack by their ids; null: they are too large. @throws HostError */
export async function readPackedObjects(
  http: SmartHttp,
  memory: MemoryHold,
  response: Response,
  maxObjectBytes: number,
): Promise<ReadonlyMap<Oid, KeptObject> | null> {
  const objects = new Map<Oid, KeptObject>();
  const share = memory.share();
  const maxBytes = maxObjectBytes + PACK_OVERHEAD_BYTES;
  const scanner = new PackScanner({
    keeps: 'everything',
    limits: { maxBytes },
    onKept: ({ type, oid, content }) => objects.set(oid, { type, oid, content: content.slice() }),
  });
  try {
    const isSmall = await scanAnswer(http, response, maxBytes, async (reader) => {
      // Once for all: the objects, and the copies of them.
      await share.set(2 * maxBytes);
      await readFetchSections(reader);
      for await (const { band, data } of readBands(reader)) if (band === BAND_DATA) scanner.scan(data);
      scanner.finish();
      if (scanner.namedBases.size === 0) return;
      throw new ProtocolError('bad-pack', 'The code host sent a difference without its base.');
    });
    return isSmall ? objects : null;
  } finally {
    scanner.kept.free();
    share.setNow(0);
  }
}

/** Commits without their trees. @param onWait called before it waits for memory. @throws HostError */
export async function readHistory(
  http: SmartHttp,
  memory: MemoryHold,
  response: Response,
  maxBytes: number,
  onWait: () => void,
): Promise<HistoryAnswer> {
  const commits = new CommitTable();
  const scanner = new PackScanner({
    limits: { maxBytes: MAX_LISTED_BYTES, objectBytes: LISTED_COMMIT_BYTES, memory },
    onKept: ({ type, oid, content }) => {
      if (type === 'commit') commits.add({ oid, ...parseHistory(content) });
    },
  });
  let hasPack = false;
  try {
    const isSmall = await scanAnswer(http, response, maxBytes, async (reader) => {
      hasPack = await beginsListing(reader);
      if (!hasPack) return;
      for await (const { band, data } of readBands(reader, true)) {
        await scanner.kept.makeRoom(LISTING_ROOM_BYTES, onWait);
        if (band === BAND_DATA) scanner.scan(data);
      }
      scanner.finish();
    });
    if (!isSmall) return { kind: 'too-large', oldestAt: commits.oldestAt };
    return hasPack ? { kind: 'listed', commits } : { kind: 'none-selected' };
  } finally {
    scanner.kept.free();
  }
}

/** False: no commit was selected. */
async function beginsListing(reader: ByteReader): Promise<boolean> {
  try {
    await readFetchSections(reader);
    return true;
  } catch (error) {
    const saysSo = error instanceof ErrorPacket && NONE_SELECTED.test(error.text);
    if (saysSo || error instanceof ProtocolError) return false;
    throw error;
  }
}

/** False: the answer is too large, or what is in it. @throws HostError */
async function scanAnswer(
  http: SmartHttp,
  response: Response,
  maxBytes: number,
  scan: (reader: ByteReader) => Promise<void>,
): Promise<boolean> {
  const reader = new ByteReader(chunksOf(response.body, { maxBytes, timeoutMs: http.timeoutMs }));
  try {
    await scan(reader);
    return true;
  } catch (error) {
    await reader.cancel();
    const isKnown = error instanceof BodyError || error instanceof ProtocolError;
    if (isKnown && error.code === 'too-large') return false;
    throw error instanceof HostError ? error : http.unreachable(error);
  }
}
