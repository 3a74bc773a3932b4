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

/** What reads an answer. */
interface AnswerReader {
  readonly http: SmartHttp;
  /** What the request holds that the answer is for. */
  readonly memory: MemoryHold;
}

/** The objects of a pack by their ids; null: they are too large. @throws HostError */
export async function readPackedObjects(
  { http, memory }: AnswerReader,
  response: Response,
  maxBytes: number,
): Promise<ReadonlyMap<Oid, KeptObject> | null> {
  const objects = new Map<Oid, KeptObject>();
  const share = memory.share();
  const scanner = new PackScanner(
    {
      onKept: ({ type, oid, content }) => objects.set(oid, { type, oid, content: content.slice() }),
      onPassed: () => {},
      onRefDelta: () => {
        throw new ProtocolError('bad-pack', 'The code host sent a difference without its base.');
      },
    },
    { maxBytes: maxBytes + PACK_OVERHEAD_BYTES },
    'everything',
  );
  const limits = { maxBytes: maxBytes + PACK_OVERHEAD_BYTES, timeoutMs: http.timeoutMs };
  const reader = new ByteReader(chunksOf(response.body, limits));
  try {
    // Once for all: the objects, and the copies of them.
    await share.set(2 * limits.maxBytes);
    const sections = await readFetchSections(reader);
    if (sections.kind === 'refused') throw new ErrorPacket(sections.message);
    for await (const { band, data } of readBands(reader)) if (band === BAND_DATA) scanner.scan(data);
    scanner.finish();
    return objects;
  } catch (error) {
    await reader.cancel();
    if ((error instanceof BodyError || error instanceof ProtocolError) && error.code === 'too-large') {
      return null;
    }
    if (error instanceof HostError) throw error;
    throw http.unreachable(error);
  } finally {
    scanner.kept.free();
    share.setNow(0);
  }
}

/** Commits without their trees. @param onWait called before it waits for memory. @throws HostError */
export async function readHistory(
  { http, memory }: AnswerReader,
  response: Response,
  maxBytes: number,
  onWait: () => void,
): Promise<HistoryAnswer> {
  const commits = new CommitTable();
  const scanner = new PackScanner(
    {
      onKept: ({ type, oid, content }) => {
        if (type !== 'commit') return;
        commits.add({ oid, ...parseHistory(content) });
      },
      onPassed: () => {},
      onRefDelta: () => {},
    },
    { maxBytes: MAX_LISTED_BYTES, objectBytes: LISTED_COMMIT_BYTES, memory },
  );
  const reader = new ByteReader(chunksOf(response.body, { maxBytes, timeoutMs: http.timeoutMs }));
  try {
    const sections = await readFetchSections(reader).catch(() => null);
    if (sections?.kind === 'refused' && !NONE_SELECTED.test(sections.message)) {
      throw new ErrorPacket(sections.message);
    }
    if (sections?.kind !== 'pack') return { kind: 'none-selected' };
    for await (const { band, data } of readBands(reader, true)) {
      await scanner.kept.makeRoom(LISTING_ROOM_BYTES, onWait);
      if (band === BAND_DATA) scanner.scan(data);
    }
    scanner.finish();
    return { kind: 'listed', commits };
  } catch (error) {
    await reader.cancel();
    if ((error instanceof BodyError || error instanceof ProtocolError) && error.code === 'too-large') {
      return { kind: 'too-large', oldestAt: commits.oldestAt };
    }
    if (error instanceof HostError) throw error;
    throw http.unreachable(error);
  } finally {
    scanner.kept.free();
  }
}
