/** Files in which a search of bytes finds no name, by their first bytes (IANA's media types; file(1), magic). */
import type { FileKind } from '../git/search/pack-scan.ts';
import { readJpeg, readPng, readTiff, readWebp } from './picture-metadata.ts';

interface Magic extends FileKind {
  /** In Latin-1. */
  readonly starts: readonly string[];
  /** Where it stands; 0 without it. */
  readonly at?: number;
  /** What else must stand, and where. */
  readonly and?: readonly [at: number, text: string];
}

const named = (name: string, ...starts: readonly string[]): Magic => ({ name, starts, read: null });

const MAGICS: readonly Magic[] = [
  { name: 'JPEG picture', starts: ['\xff\xd8\xff'], read: readJpeg },
  { name: 'PNG picture', starts: ['\x89PNG\r\n\x1a\n'], read: readPng },
  { name: 'TIFF or raw picture', starts: ['II*\0', 'MM\0*', 'IIU\0'], read: readTiff },
  { name: 'WebP picture', starts: ['RIFF'], and: [8, 'WEBP'], read: readWebp },
  named('GIF picture', 'GIF87a', 'GIF89a'),
  named('Photoshop picture', '8BPS'),
  // ISO/IEC 14496-12: HEIF and AVIF, MP4, QuickTime. Its first box has a length before its name.
  { ...named('HEIF picture or video', 'ftyp'), at: 4 },
  named('PDF document', '%PDF-'),
  named('office document, book or archive (ZIP)', 'PK\x03\x04'),
  named('office document (OLE)', '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'),
  named('archive', '\x1f\x8b\x08', 'BZh', '\xfd7zXZ\0', '\x28\xb5\x2f\xfd'),
  named('archive', '7z\xbc\xaf\x27\x1c', 'Rar!\x1a\x07', 'xar!'),
  // POSIX, pax: names of owners stand in it.
  { ...named('archive (tar)', 'ustar'), at: 257 },
  named('sound', 'ID3', 'OggS', 'fLaC', 'MThd'),
  { ...named('sound', 'RIFF'), and: [8, 'WAVE'] },
  named('video', '\x1a\x45\xdf\xa3'),
  named('database', 'SQLite format 3\0'),
  named('property list', 'bplist00'),
];

/** Most files begin with none of these. */
const STARTS = MAGICS.flatMap(({ starts, at = 0 }) =>
  starts.map((start) => [at, start.charCodeAt(0)] as const),
);
const BEGINNINGS = new Set(STARTS.flatMap(([at, byte]) => (at === 0 ? [byte] : [])));
const LATER = STARTS.filter(([at]) => at > 0);

/** Null: a search of its bytes is enough. @param first its first bytes, as many as FIRST_BYTES if it has them. */
export function kindOfFile(first: Uint8Array): FileKind | null {
  if (!BEGINNINGS.has(first[0] ?? 0) && !LATER.some(([at, byte]) => first[at] === byte)) return null;
  const text = Buffer.from(first.buffer, first.byteOffset, first.byteLength).toString('latin1');
  const isOne = ({ starts, at = 0, and }: Magic): boolean =>
    starts.some((start) => text.startsWith(start, at)) &&
    (and === undefined || text.startsWith(and[1], and[0]));
  return MAGICS.find(isOne) ?? null;
}
