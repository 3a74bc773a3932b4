/**
 * The Worker in which the pack engine is measured: it holds one pack and repeats on request what a push does with it.
 *
 * A Worker's clock stands still while it computes, so each kind of work is timed from outside, and repeated until the
 * cost of the request itself is negligible. Chunks have the size of a push's reads.
 */
import { createHash } from 'node:crypto';
import { inflateSync } from 'node:zlib';
import { AnonymousCommits } from '../../src/git/objects/anonymize.ts';
import { type NewCommits, traceNewCommits } from '../../src/git/objects/new-commits.ts';
import { hashObject } from '../../src/git/objects/oid.ts';
import {
  EntryHeaderReader,
  OBJ_COMMIT,
  OBJ_OFS_DELTA,
  OBJ_REF_DELTA,
  OBJ_TAG,
} from '../../src/git/pack/entry-header.ts';
import type { KeptObject } from '../../src/git/pack/kept-objects.ts';
import { OwnIds } from '../../src/git/objects/own-ids.ts';
import { planCommits } from '../../src/git/objects/planned-commits.ts';
import { outgoingPack } from '../../src/git/pack/outgoing-pack.ts';
import { PackScanner } from '../../src/git/pack/pack-scanner.ts';
import { ZlibWalker } from '../../src/git/zlib/zlib-walker.ts';
import { zlibStore } from '../../src/git/zlib/zlib-store.ts';

const CHUNK_BYTES = 256 * 1024;
const PACK_HEADER_BYTES = 12;
const TRAILER_BYTES = 20;
const IDENTITY = { name: 'bot', email: 'anonymous@example.org' };
const COMMITTED_AT = 1_800_000_000;

let pack: Uint8Array = new Uint8Array(0);
let tip = '';
let base = '';

function* chunks(): Generator<Uint8Array> {
  for (let at = 0; at < pack.byteLength; at += CHUNK_BYTES) yield pack.subarray(at, at + CHUNK_BYTES);
}

/** What every pack costs: its entries' ends found, commits and tags kept, its checksum verified. */
function scan(): void {
  const scanner = new PackScanner();
  for (const chunk of chunks()) scanner.scan(chunk);
  scanner.finish();
}

/** Of the reading of a pack, its checksum. */
function checksumOnly(): void {
  const hash = createHash('sha1');
  for (const chunk of chunks()) hash.update(chunk);
  hash.digest();
}

/** Of the reading of a pack, its zlib streams: where each ends and how long it is inflated. */
function walkOnly(): void {
  const walker = new ZlibWalker();
  forEachEntry((start, header) => {
    walker.begin(header.size);
    return walker.walk(pack, start, pack.byteLength);
  });
}

/** A pack read by the means that Node offers: each entry inflated. */
function inflateEach(): void {
  forEachEntry((start, header) => {
    const { buffer, engine } = inflateSync(pack.subarray(start), { info: true }) as unknown as {
      buffer: Uint8Array;
      engine: { bytesWritten: number };
    };
    if (buffer.byteLength !== header.size) throw new Error('the pack is damaged');
    return start + engine.bytesWritten;
  });
  createHash('sha1').update(pack.subarray(0, -TRAILER_BYTES)).digest();
}

/** All of a push but the spool, the search for names, and the sending. */
async function rewrite(): Promise<void> {
  const scanner = new PackScanner();
  const passed: Uint8Array[] = [];
  for (const chunk of chunks()) passed.push(...scanner.scan(chunk));
  scanner.finish();
  const anonymous = anonymized(trace((oid) => scanner.kept.withOid(oid)?.content));
  const stream = async function* () {
    yield* passed;
  };
  const outgoing = outgoingPack(anonymous.size, anonymous.contents(), scanner.passedCount, stream());
  // eslint-disable-next-line no-unused-vars
  for await (const _ of outgoing);
}

function anonymized(commits: NewCommits): AnonymousCommits {
  const ids = Array.from(commits, ({ oid }) => oid);
  return new AnonymousCommits(planCommits(commits, new OwnIds(ids)).commits, IDENTITY, () => COMMITTED_AT);
}

function trace(find: (oid: string) => Uint8Array | undefined): NewCommits {
  const found = traceNewCommits(tip, find, {
    since: -Infinity,
    othersSince: -Infinity,
    isListed: (oid) => oid === base,
    isKnown: (oid) => oid === base,
  });
  if (found.kind !== 'complete') throw new Error(`the history is ${found.kind}`);
  return found.commits;
}

/** The contents of the pack's commits before and after; of use for a pack of commits only. */
let originals: readonly Uint8Array[] = [];
let rewritten: Iterable<Uint8Array> = [];

function prepareParts(): void {
  const kept = new Map<string, KeptObject>();
  const scanner = new PackScanner({ onKept: (object) => kept.set(object.oid, object) });
  for (const chunk of chunks()) scanner.scan(chunk);
  originals = [...kept.values()].map(({ content }) => content);
  const anonymous = anonymized(trace((oid) => kept.get(oid)?.content));
  rewritten = Array.from(anonymous.contents(), (content) => content.slice());
}

/** Of the rewriting of commits, SHA-1: ids of both kinds of commits, checksums of both packs. */
function hashOnly(): void {
  for (const content of originals) hashObject('commit', content);
  const outgoing = createHash('sha1');
  for (const content of rewritten) {
    hashObject('commit', content);
    outgoing.update(content);
  }
  outgoing.digest();
  createHash('sha1').update(pack).digest();
}

/** Of the rewriting of commits, zlib: entries inflated, new ones stored. */
function zlibOnly(): void {
  const walker = new ZlibWalker();
  forEachEntry((start, header) => {
    const isKept = header.type === OBJ_COMMIT || header.type === OBJ_TAG;
    const isDelta = header.type === OBJ_OFS_DELTA || header.type === OBJ_REF_DELTA;
    const keptBytes = isKept || isDelta ? header.size : 0;
    walker.begin(header.size, new Uint8Array(keptBytes), keptBytes);
    return walker.walk(pack, start, pack.byteLength);
  });
  for (const content of rewritten) zlibStore(content);
}

/** @param take reads the entry whose compressed bytes begin at `start`; answers where they end. */
function forEachEntry(take: (start: number, header: EntryHeaderReader) => number): void {
  const header = new EntryHeaderReader();
  for (let at = PACK_HEADER_BYTES; at < pack.byteLength - TRAILER_BYTES;) {
    header.begin();
    while (!header.push(pack[at++] as number));
    at = take(at, header);
  }
}

const WORK: Readonly<Record<string, () => void | Promise<void>>> = {
  scan,
  checksumOnly,
  walkOnly,
  inflateEach,
  rewrite,
  hashOnly,
  zlibOnly,
};

export default {
  async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const name = pathname.slice(1);
    if (name === 'pack') {
      pack = new Uint8Array(await request.arrayBuffer());
      tip = searchParams.get('tip') ?? '';
      base = searchParams.get('base') ?? '';
      if (searchParams.has('parts')) prepareParts();
      return new Response();
    }
    const work = WORK[name];
    if (work === undefined) return new Response(null, { status: 404 });
    for (let times = Number(searchParams.get('times')); times > 0; times--) await work();
    return new Response();
  },
};
