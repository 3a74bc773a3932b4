/**
 * Recognizes files in which a search of bytes finds no name, by their first bytes (IANA's media
 * types; file(1), magic), and reads from pictures whether they have metadata and who made them. It
 * reads the beginning of a stranger's file: every offset is checked, every list is bounded, and
 * what is broken is left out. Sources: Exif 3.0 (CIPA DC-008) on TIFF 6.0; XMP (ISO
 * 16684-1); IPTC-IIM 4.2; PNG (W3C, third edition); WebP (RFC 9649).
 */
import { latin1, NO_BYTES } from '../git/bytes.ts';
import type { FileKind } from '../git/search/pack-scan.ts';

interface Magic extends FileKind {
  /** The bytes of one of its beginnings, in Latin-1. */
  readonly starts: readonly string[];
  /** The offset at which they begin, by default 0. */
  readonly at?: number;
  /** The bytes that must also stand at another offset. */
  readonly and?: readonly [at: number, text: string];
}

const named = (name: string, ...starts: readonly string[]): Magic => ({ name, starts, read: null });
const picture = (name: string, read: Reading, ...starts: readonly string[]): Magic => ({
  name,
  starts,
  read: (head) => linesOf(read(head)),
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

/** The kinds that compilers make, in which paths of the machine are usual. */
const PROGRAMS: readonly Magic[] = [
  // elf(5).
  named('program (ELF)', '\x7fELF'),
  // Microsoft's PE format: behind MZ, a header of MS-DOS with eight reserved bytes.
  { ...named('program (PE)', 'MZ'), and: [28, '\0'.repeat(8)] },
  // Apple's mach-o/loader.h.
  named('program (Mach-O)', '\xfe\xed\xfa\xce', '\xfe\xed\xfa\xcf', '\xce\xfa\xed\xfe', '\xcf\xfa\xed\xfe'),
  // JVMS, 4.1; Apple's mach-o/fat.h begins in the same way.
  named('program (Java or Mach-O)', '\xca\xfe\xba\xbe'),
  // WebAssembly, 5.5.16.
  named('program (WebAssembly)', '\0asm'),
  // PEP 552: a number below 4096, CR and LF, then flags.
  { ...named('program (Python)', '\x0b\r\n', '\x0c\r\n', '\r\r\n', '\x0e\r\n'), at: 1, and: [5, '\0\0\0'] },
  // ar(5): owners stand in it, too.
  named('library (ar)', '!<arch>\n'),
];
const KINDS: readonly Magic[] = [...MAGICS, ...PROGRAMS];

export const COMPILED: ReadonlySet<string> = new Set(PROGRAMS.map(({ name }) => name));
/** Names of the kinds whose metadata is read. */
export const PICTURES: readonly string[] = MAGICS.flatMap(({ name, read }) => (read === null ? [] : name));

/** First bytes of all kinds: most files begin with none of them, so nothing else is compared. */
const STARTS = KINDS.flatMap(({ starts, at = 0 }) =>
  starts.map((start) => [at, start.charCodeAt(0)] as const),
);
const BEGINNINGS = new Set(STARTS.flatMap(([at, byte]) => (at === 0 ? [byte] : [])));
const LATER = STARTS.filter(([at]) => at > 0);

/**
 * Recognizes a kind of file, or returns null if a search of its bytes is enough.
 * @param first has its first bytes, as many as FIRST_BYTES if it has them.
 */
export function kindOfFile(first: Uint8Array): FileKind | null {
  if (!BEGINNINGS.has(first[0] ?? 0) && !LATER.some(([at, byte]) => first[at] === byte)) return null;
  const text = Buffer.from(first.buffer, first.byteOffset, first.byteLength).toString('latin1');
  const isOne = ({ starts, at = 0, and }: Magic): boolean =>
    starts.some((start) => text.startsWith(start, at)) &&
    (and === undefined || text.startsWith(and[1], and[0]));
  return KINDS.find(isOne) ?? null;
}

const EXIF = 'has Exif data, perhaps a place';
const XMP = 'has XMP data, perhaps a place';
const AUTHOR = 'author';

/** One piece of metadata, with the bytes of the author's name or of the XMP. */
type Metadata = readonly [kind: typeof EXIF] | readonly [kind: typeof XMP | typeof AUTHOR, bytes: Uint8Array];
type Reading = (head: Uint8Array) => Generator<Metadata>;

const MAX_AUTHOR_BYTES = 80;
/** Maximum number of pieces that are read in one file, whether or not they say anything new. */
const MOST_PIECES = 12;
/** Maximum number of segments or chunks of one file that are passed. They may be empty. */
const MOST_PASSED = 500;
const MOST_ENTRIES = 256;
const ENTRY_BYTES = 12;

const EXIF_FOLDER = 0x8769;
const GPS_FOLDER = 0x8825;
const XMP_TAG = 0x02bc;
/** Tags of the artist, and of the camera's owner. */
const AUTHOR_TAGS = new Set([0x013b, 0xa430]);
/** The number of the by-line in IPTC's second record. */
const IPTC_AUTHOR = 80;
const XMP_AUTHORS = ['dc:creator', 'aux:OwnerName'];

/**
 * Turns metadata into lines for the person, each only once. XMP is read once, because it is long.
 */
function linesOf(pieces: Iterable<Metadata>): readonly string[] {
  const lines = new Set<string>();
  let isXmpRead = false;
  let left = MOST_PIECES;
  for (const [kind, bytes = NO_BYTES] of pieces) {
    if (--left < 0) return [...lines, 'and more'];
    const isXmp = kind === XMP && !isXmpRead;
    const authors = kind === AUTHOR ? [bytes] : isXmp ? authorsInXmp(bytes) : [];
    // WebP has a flag for it, too, without any content.
    if (isXmp) isXmpRead = bytes.length > 0;
    if (kind !== AUTHOR) lines.add(kind);
    for (const name of authors.map(nameIn)) if (name !== '') lines.add(`${AUTHOR} ${name}`);
  }
  return [...lines];
}

function nameIn(bytes: Uint8Array): string {
  const text = textOf(bytes.subarray(0, MAX_AUTHOR_BYTES));
  return text.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim();
}

/** Reads segments until the picture itself begins (ITU-T T.81). */
function* readJpeg(head: Uint8Array): Generator<Metadata> {
  let left = MOST_PASSED;
  for (let at = 2; at + 4 <= head.length && head[at] === 0xff && left > 0; left--) {
    const marker = head[at + 1]!;
    const size = 256 * head[at + 2]! + head[at + 3]!;
    if (marker === 0xda || size < 2) return;
    const segment = marker === 0xe1 || marker === 0xed ? head.subarray(at + 4, at + 2 + size) : NO_BYTES;
    if (startsWith(segment, EXIF_HEADER)) yield* readExif(segment);
    else if (startsWith(segment, 'http://ns.adobe.com/xap/')) yield [XMP, segment];
    else if (marker === 0xed) yield* readIptc(segment);
    at += 2 + size;
  }
}

function* readPng(head: Uint8Array): Generator<Metadata> {
  for (const [type, chunk] of chunks(head, 8, false)) {
    if (type === 'eXIf') yield* readExif(chunk);
    else if (type === 'iTXt' && startsWith(chunk, 'XML:com.adobe.xmp\0')) yield [XMP, chunk];
    else if (type === 'tEXt' && startsWith(chunk, 'Author\0')) yield [AUTHOR, chunk.subarray(7)];
  }
}

function* readWebp(head: Uint8Array): Generator<Metadata> {
  for (const [type, chunk] of chunks(head, 12, true)) {
    if (type === 'EXIF') yield* readExif(chunk);
    if (type === 'XMP ') yield [XMP, chunk];
    // The chunks stand at the end, which may not have been kept; these flags stand at the
    // beginning.
    if (type === 'VP8X' && (chunk[0]! & 8) !== 0) yield [EXIF];
    if (type === 'VP8X' && (chunk[0]! & 4) !== 0) yield [XMP, NO_BYTES];
  }
}

/**
 * Splits PNG (each chunk has a length, a type, content and a checksum) or RIFF (a type, a length,
 * and content of an even size).
 */
function* chunks(head: Uint8Array, start: number, isRiff: boolean): Generator<readonly [string, Uint8Array]> {
  const view = viewOf(head);
  let left = MOST_PASSED;
  for (let at = start; at + 8 <= head.length && left > 0; left--) {
    const size = view.getUint32(isRiff ? at + 4 : at, isRiff);
    const typeAt = isRiff ? at : at + 4;
    yield [latin1(head, typeAt, typeAt + 4), head.subarray(at + 8, at + 8 + size)];
    at += 8 + size + (isRiff ? size % 2 : 4);
  }
}

const EXIF_HEADER = 'Exif\0\0';

function* readExif(bytes: Uint8Array): Generator<Metadata> {
  yield [EXIF];
  yield* readTiff(startsWith(bytes, EXIF_HEADER) ? bytes.subarray(EXIF_HEADER.length) : bytes);
}

function* readTiff(bytes: Uint8Array): Generator<Metadata> {
  if (bytes.length < 8) return;
  const view = viewOf(bytes);
  const isLittle = startsWith(bytes, 'II');
  const folders = [view.getUint32(4, isLittle)];
  // The list is bounded, because a folder may name itself: the first one, and that of Exif.
  for (let index = 0; index < folders.length && index < 2; index++) {
    const start = folders[index]!;
    if (start + 2 > bytes.length) continue;
    const count = Math.min(view.getUint16(start, isLittle), MOST_ENTRIES);
    const end = Math.min(start + 2 + count * ENTRY_BYTES, bytes.length);
    for (let at = start + 2; at + ENTRY_BYTES <= end; at += ENTRY_BYTES) {
      const tag = view.getUint16(at, isLittle);
      const size = view.getUint32(at + 4, isLittle);
      const value = view.getUint32(at + 8, isLittle);
      // Content of up to four bytes stands in the entry itself.
      const contentAt = size <= 4 ? at + 8 : value;
      const content = bytes.subarray(contentAt, contentAt + size);
      if (tag === EXIF_FOLDER) folders.push(value);
      if (tag === EXIF_FOLDER || tag === GPS_FOLDER) yield [EXIF];
      else if (tag === XMP_TAG) yield [XMP, content];
      else if (AUTHOR_TAGS.has(tag)) yield [AUTHOR, content];
    }
  }
}

/** Finds the words of a few elements and attributes, without a parser of XML. */
function authorsInXmp(bytes: Uint8Array): Uint8Array[] {
  const text = latin1(bytes);
  return XMP_AUTHORS.flatMap((name) => {
    const at = text.indexOf(name);
    if (at < 0) return [];
    const behind = text.slice(at + name.length, at + name.length + 400);
    const [, words = ''] =
      /^\s*=\s*["']([^"'<]*)/.exec(behind) ?? /^[^>]*>\s*(?:<[^>]*>\s*)*([^<]*)/.exec(behind) ?? [];
    return Buffer.from(words, 'latin1');
  });
}

/** Reads the data sets of the second record: 1c 02, the number, the length. */
function* readIptc(bytes: Uint8Array): Generator<Metadata> {
  for (let at = 0; at + 5 <= bytes.length; at++) {
    if (bytes[at] !== 0x1c || bytes[at + 1] !== 2 || bytes[at + 2] !== IPTC_AUTHOR) continue;
    const size = 256 * bytes[at + 3]! + bytes[at + 4]!;
    yield [AUTHOR, bytes.subarray(at + 5, at + 5 + size)];
  }
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  new DataView(buffer, byteOffset, byteLength);
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString().replaceAll('\ufffd', '');
const startsWith = (bytes: Uint8Array, text: string) => latin1(bytes.subarray(0, text.length)) === text;
