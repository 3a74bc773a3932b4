/**
 * Files in which a search of bytes finds no name, by their first bytes (IANA's media types;
 * file(1), magic); and what pictures say besides what they show. It reads the beginning of a
 * stranger's file: every offset is checked, nothing is followed twice, and whatever is broken ends
 * the reading. Exif 3.0 (CIPA DC-008) on TIFF 6.0; XMP (ISO 16684-1); IPTC-IIM 4.2; PNG (W3C, third
 * edition); WebP (RFC 9649).
 */
import { latin1 } from '../git/bytes.ts';
import type { FileKind } from '../git/search/pack-scan.ts';

interface Magic extends FileKind {
  /** In Latin-1. */
  readonly starts: readonly string[];
  /** Where it stands; 0 without it. */
  readonly at?: number;
  /** What else must stand, and where. */
  readonly and?: readonly [at: number, text: string];
}

const named = (name: string, ...starts: readonly string[]): Magic => ({ name, starts, read: null });
const picture = (name: string, read: Reading, ...starts: readonly string[]): Magic => ({
  name,
  starts,
  read: (head) => findingText(head, read),
});

const MAGICS: readonly Magic[] = [
  picture('JPEG picture', readJpeg, '\xff\xd8\xff'),
  picture('PNG picture', readPng, '\x89PNG\r\n\x1a\n'),
  picture('TIFF or raw picture', readTiff, 'II*\0', 'MM\0*', 'IIU\0'),
  { ...picture('WebP picture', readWebp, 'RIFF'), and: [8, 'WEBP'] },
  named('GIF picture', 'GIF87a', 'GIF89a'),
  named('Photoshop picture', '8BPS'),
  // ISO/IEC 18181-2: a codestream, or a file of boxes.
  named('JPEG XL picture', '\xff\x0a', '\0\0\0\x0cJXL \r\n\x87\n'),
  // Microsoft's BITMAPFILEHEADER: the size, then two reserved words.
  { ...named('BMP picture', 'BM'), and: [6, '\0\0\0\0'] },
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

/** Kinds of which it is read what they say. */
export const PICTURES: readonly string[] = MAGICS.flatMap(({ name, read }) => (read === null ? [] : name));

/** Most files begin with none of these. */
const STARTS = MAGICS.flatMap(({ starts, at = 0 }) =>
  starts.map((start) => [at, start.charCodeAt(0)] as const),
);
const BEGINNINGS = new Set(STARTS.flatMap(([at, byte]) => (at === 0 ? [byte] : [])));
const LATER = STARTS.filter(([at]) => at > 0);

/**
 * Null: a search of its bytes is enough.
 * @param first its first bytes, as many as FIRST_BYTES if it has them.
 */
export function kindOfFile(first: Uint8Array): FileKind | null {
  if (!BEGINNINGS.has(first[0] ?? 0) && !LATER.some(([at, byte]) => first[at] === byte)) return null;
  const text = Buffer.from(first.buffer, first.byteOffset, first.byteLength).toString('latin1');
  const isOne = ({ starts, at = 0, and }: Magic): boolean =>
    starts.some((start) => text.startsWith(start, at)) &&
    (and === undefined || text.startsWith(and[1], and[0]));
  return MAGICS.find(isOne) ?? null;
}

/**
 * What a file says, place by place: a label, with the bytes of its words; null: the label is all.
 */
type Places = Generator<readonly [label: string, words: Uint8Array | null]>;
type Reading = (head: Uint8Array) => Places;

const MOST_WORDS = 80;
const MOST_TELLS = 12;
/** Places that are read in one file, whether or not they say something else than those before. */
const MOST_PLACES = 100;
const MOST_ENTRIES = 256;
const ENTRY_BYTES = 12;

const EXIF_FOLDER = 0x8769;
const GPS_FOLDER = 0x8825;
const XMP_TAG = 0x02bc;
const TEXTS_OF_PNG = new Set(['tEXt', 'iTXt', 'zTXt']);
/** Entries of TIFF's folders that people do not mean to publish. */
const TIFF_LABELS: Readonly<Record<number, string>> = {
  0x010e: 'description',
  0x010f: 'camera',
  0x0110: 'camera',
  0x0131: 'program',
  0x013b: 'author',
  0x013c: 'computer',
  0x8298: 'rights',
  0x9003: 'date',
  0x9011: 'time zone',
  0xa430: 'owner',
  0xa431: 'serial number',
  0xa435: 'serial number of the lens',
};
/** Of IPTC's second record. */
const IPTC_LABELS: Readonly<Record<number, string>> = {
  80: 'author',
  90: 'place',
  101: 'place',
  116: 'rights',
};
const XMP_LABELS: readonly (readonly [name: string, label: string])[] = [
  ['dc:creator', 'author'],
  ['dc:rights', 'rights'],
  ['xmp:CreatorTool', 'program'],
  ['tiff:Make', 'camera'],
  ['tiff:Model', 'camera'],
  ['exif:GPSLatitude', 'place'],
  ['photoshop:City', 'place'],
  ['aux:OwnerName', 'owner'],
  ['aux:SerialNumber', 'serial number'],
];

/** Each only once, and not too many. */
function findingText(head: Uint8Array, read: Reading): readonly string[] {
  const lines = new Set<string>();
  let placesLeft = MOST_PLACES;
  for (const [label, words] of read(head)) {
    if (--placesLeft < 0) return [...lines, 'and more'];
    const plain = textOf(words?.subarray(0, MOST_WORDS) ?? NOTHING)
      .replaceAll(/[\p{Cc}\s]+/gu, ' ')
      .trim();
    const line = `${label} ${plain}`.trim();
    if (line === '' || lines.has(line) || (words !== null && plain === '')) continue;
    if (lines.size === MOST_TELLS) return [...lines, 'and more'];
    lines.add(line);
  }
  return [...lines];
}

/** ITU-T T.81: segments until the picture itself begins. */
function* readJpeg(head: Uint8Array): Places {
  let hasXmp = false;
  for (let at = 2; at + 4 <= head.length && head[at] === 0xff;) {
    const marker = head[at + 1]!;
    const size = 256 * head[at + 2]! + head[at + 3]!;
    if (marker === 0xda || size < 2) return;
    const segment = [0xe1, 0xed, 0xfe].includes(marker) ? head.subarray(at + 4, at + 2 + size) : NOTHING;
    if (marker === 0xe1 && startsWith(segment, 'Exif\0\0')) yield* readTiff(segment.subarray(6));
    else if (marker === 0xe1 && !hasXmp && startsWith(segment, 'http://ns.adobe.com/xap/')) {
      hasXmp = true;
      yield* readXmp(segment);
    } else if (marker === 0xed) yield* readIptc(segment);
    else if (marker === 0xfe) yield ['comment', segment];
    at += 2 + size;
  }
}

function* readPng(head: Uint8Array): Places {
  let hasXmp = false;
  for (const [type, chunk] of chunks(head, 8, false)) {
    if (type === 'eXIf') yield* readTiff(chunk);
    if (!TEXTS_OF_PNG.has(type)) continue;
    const nul = chunk.subarray(0, MOST_WORDS).indexOf(0);
    const keyword = textOf(chunk.subarray(0, Math.max(0, nul)));
    if (keyword === 'XML:com.adobe.xmp') {
      if (!hasXmp) yield* readXmp(chunk);
      hasXmp = true;
      // Behind the keyword of an iTXt stand flags and two more texts, and a zTXt is compressed.
    } else if (type === 'tEXt') yield [keyword, chunk.subarray(nul + 1)];
    else yield [keyword, null];
  }
}

function* readWebp(head: Uint8Array): Places {
  let hasXmp = false;
  for (const [type, chunk] of chunks(head, 12, true)) {
    // They stand at the end, which may not be here; the flags stand at the beginning.
    if (type === 'VP8X' && (chunk[0]! & 8) !== 0) yield ['Exif data', null];
    if (type === 'VP8X' && (chunk[0]! & 4) !== 0) yield ['XMP data', null];
    if (type === 'EXIF') yield* readTiff(startsWith(chunk, 'Exif\0\0') ? chunk.subarray(6) : chunk);
    if (type !== 'XMP ' || hasXmp) continue;
    hasXmp = true;
    yield* readXmp(chunk);
  }
}

/**
 * Of PNG (the length, the type, content, a checksum) or of RIFF (the type, the length, content,
 * even).
 */
function* chunks(head: Uint8Array, start: number, isRiff: boolean): Generator<readonly [string, Uint8Array]> {
  const view = viewOf(head);
  for (let at = start; at + 8 <= head.length;) {
    const size = view.getUint32(isRiff ? at + 4 : at, isRiff);
    const typeAt = isRiff ? at : at + 4;
    yield [latin1(head, typeAt, typeAt + 4), head.subarray(at + 8, at + 8 + size)];
    at += 8 + size + (isRiff ? size % 2 : 4);
  }
}

function* readTiff(bytes: Uint8Array): Places {
  if (bytes.length < 8) return;
  const view = viewOf(bytes);
  const isLittle = startsWith(bytes, 'II');
  let hasXmp = false;
  const folders = [view.getUint32(4, isLittle)];
  // A folder may name itself, so the list is short: the first one, Exif's and that of the place.
  for (let index = 0; index < folders.length && index < 3; index++) {
    const start = folders[index]!;
    if (start + 2 > bytes.length) continue;
    const count = Math.min(view.getUint16(start, isLittle), MOST_ENTRIES);
    const end = Math.min(start + 2 + count * ENTRY_BYTES, bytes.length);
    for (let at = start + 2; at + ENTRY_BYTES <= end; at += ENTRY_BYTES) {
      const tag = view.getUint16(at, isLittle);
      const type = view.getUint16(at + 2, isLittle);
      const size = view.getUint32(at + 4, isLittle);
      const value = view.getUint32(at + 8, isLittle);
      // Four bytes stand in the entry itself.
      const contentAt = size <= 4 ? at + 8 : value;
      const label = TIFF_LABELS[tag];
      // ASCII or UTF-8.
      if (label !== undefined && (type === 2 || type === 129))
        yield [label, bytes.subarray(contentAt, contentAt + size)];
      else if (tag === XMP_TAG && !hasXmp) {
        hasXmp = true;
        yield* readXmp(bytes.subarray(contentAt, contentAt + size));
      } else if (tag === EXIF_FOLDER) folders.push(value);
      else if (tag === GPS_FOLDER) yield ['place (GPS)', null];
    }
  }
}

/** XML, of which only a few elements and attributes are looked for. */
function* readXmp(bytes: Uint8Array): Places {
  const text = latin1(bytes);
  for (const [name, label] of XMP_LABELS) {
    const at = text.indexOf(name);
    if (at < 0) continue;
    const behind = text.slice(at + name.length, at + name.length + 400);
    const [, words = ''] =
      /^\s*=\s*["']([^"'<]*)/.exec(behind) ?? /^[^>]*>\s*(?:<[^>]*>\s*)*([^<]*)/.exec(behind) ?? [];
    yield [label, Buffer.from(words, 'latin1')];
  }
}

/** Data sets of the second record: 1c 02, the number, the length. */
function* readIptc(bytes: Uint8Array): Places {
  for (let at = 0; at + 5 <= bytes.length; at++) {
    if (bytes[at] !== 0x1c || bytes[at + 1] !== 2) continue;
    const label = IPTC_LABELS[bytes[at + 2]!];
    const size = 256 * bytes[at + 3]! + bytes[at + 4]!;
    if (label !== undefined) yield [label, bytes.subarray(at + 5, at + 5 + size)];
  }
}

const NOTHING = new Uint8Array(0);
const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  new DataView(buffer, byteOffset, byteLength);
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString().replaceAll('\ufffd', '');
const startsWith = (bytes: Uint8Array, text: string) => latin1(bytes.subarray(0, text.length)) === text;
