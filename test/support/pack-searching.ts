/** Packs that are searched for Ada Lovelace, and what upstream answers meanwhile. */
import { kindOfFile } from '../../src/leaks/file-kinds.ts';
import type { Memory } from '../../src/git/memory.ts';
import { UNCOUNTED } from '../../src/git/memory.ts';
import type { Oid } from '../../src/git/objects/oid.ts';
import type { KeptObject } from '../../src/git/pack/kept-objects.ts';
import { type PackFindings, searchPack, type SearchQuestions } from '../../src/git/search/pack-search.ts';
import type { FileObject } from '../../src/git/pack/packed-objects.ts';
import { SearchedNames } from '../../src/git/search/searched-names.ts';
import { buildPack, type Entry, oidOf } from './pack-builder.ts';
import { filesOnly } from './stored-pack.ts';

export const NAME = 'Ada Lovelace';

export interface Searching {
  readonly author?: string;
  readonly originalIds?: readonly Oid[];
  /** Objects of upstream, which can be read by their ids. */
  readonly bases?: readonly Uint8Array[];
  /** Upstream's files by their paths. */
  readonly upstream?: Readonly<Record<string, Uint8Array | string>>;
  readonly upstreamFolders?: Readonly<Record<string, Uint8Array>>;
  readonly memory?: Memory;
  readonly maxHits?: number;
  /** The seed of the pieces in which the pack comes; null: it comes in one. */
  readonly seed?: number | null;
  readonly maxReads?: number;
  /** Called when upstream is asked for objects by their ids. */
  readonly onBases?: () => void;
  readonly judgeFolders?: NonNullable<SearchQuestions['judgeFolders']>;
}

export interface Searched extends PackFindings {
  /** The objects that upstream was asked for, with each request. */
  readonly askedBases: readonly ReadonlyMap<Oid, number>[];
  readonly askedPaths: readonly (readonly string[])[];
}

export function namesOf(author: string, originalIds: readonly Oid[] = []): SearchedNames {
  const content = Buffer.from(`author ${author} 1 +0000\ncommitter bot <bot@x.example> 1 +0000\n\n`);
  return new SearchedNames({
    headers: [{ content, encoding: null }],
    originalIds,
    nobodys: ['bot', 'bot@x.example'],
  });
}

export async function searched(entries: readonly Entry[], searching: Searching = {}): Promise<Searched> {
  const { author = `${NAME} <ada@x.example>`, bases = [], upstream = {}, upstreamFolders = {} } = searching;
  const askedBases: ReadonlyMap<Oid, number>[] = [];
  const askedPaths: (readonly string[])[] = [];
  const files = new Map<string, FileObject>([
    ...Object.entries(upstream).map(([path, text]): [string, FileObject] => [
      path,
      { type: 'blob', content: Buffer.from(text) },
    ]),
    ...Object.entries(upstreamFolders).map(([path, content]): [string, FileObject] => [
      path,
      { type: 'tree', content },
    ]),
  ]);
  const objects = bases.flatMap((content) =>
    (['blob', 'tree'] as const).map((type): KeptObject => ({ type, oid: oidOf(type, content), content })),
  );
  const findings = await searchPack(
    filesOnly(buildPack(entries).bytes, searching.seed ?? null, searching.maxReads),
    namesOf(author, searching.originalIds),
    {
      readBases: async (sizes) => {
        askedBases.push(sizes);
        searching.onBases?.();
        return objects.filter(({ oid }) => sizes.has(oid));
      },
      readUpstream: async (paths) => {
        askedPaths.push(paths);
        return new Map([...files].filter(([path]) => paths.includes(path)));
      },
      ...(searching.judgeFolders && { judgeFolders: searching.judgeFolders }),
    },
    kindOfFile,
    searching.memory ?? UNCOUNTED,
    searching.maxHits ?? 10,
  );
  return { ...findings, askedBases, askedPaths };
}

/** The lines in which something was found. */
export const linesOf = ({ hits }: PackFindings): string[] =>
  hits.map(({ excerpt }) => Buffer.from(excerpt).toString());

export const blob = (text: string | Uint8Array): Entry => ({ type: 'blob', content: Buffer.from(text) });
