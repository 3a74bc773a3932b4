/**
 * What a picture says besides what it shows, from the beginning of a stranger's file: every offset is checked, nothing is
 * followed twice, and whatever is broken ends the reading. Exif 3.0 (CIPA DC-008) on TIFF 6.0; XMP (ISO 16684-1);
 * IPTC-IIM 4.2; PNG (W3C, third edition); WebP (RFC 9649).
 */

/** Labels of what a file says, with its words; '' where the place is all that is told. */
type Tell = (label: string, words?: string) => void;

const MOST_WORDS = 80;
const MOST_TELLS = 12;
const MOST_ENTRIES = 256;
const ENTRY_BYTES = 12;

const EXIF_FOLDER = 0x8769;
const GPS_FOLDER = 0x8825;
const XMP_TAG = 0x02bc;
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
function told(read: (tell: Tell) => void): readonly string[] {
  const lines = new Set<string>();
  read((label, words = '') => {
    const plain = words.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim();
    if (lines.size < MOST_TELLS && (words === '' || plain !== ''))
      lines.add(plain === '' ? label : `${label} ${plain.slice(0, MOST_WORDS)}`);
  });
  return [...lines];
}

export const readTiff = (head: Uint8Array): readonly string[] => told((tell) => tiff(head, tell));

/** ITU-T T.81: segments until the picture itself begins. */
export const readJpeg = (head: Uint8Array): readonly string[] =>
  told((tell) => {
    for (let at = 2; at + 4 <= head.length && head[at] === 0xff;) {
      const [marker, size] = [head[at + 1]!, viewOf(head).getUint16(at + 2)];
      if (marker === 0xda || size < 2) return;
      const segment = head.subarray(at + 4, at + 2 + size);
      if (marker === 0xe1 && startsWith(segment, 'Exif\0\0')) tiff(segment.subarray(6), tell);
      else if (marker === 0xe1 && startsWith(segment, 'http://ns.adobe.com/xap/')) xmp(segment, tell);
      else if (marker === 0xed) iptc(segment, tell);
      else if (marker === 0xfe) tell('comment', textOf(segment.subarray(0, MOST_WORDS)));
      at += 2 + size;
    }
  });

export const readPng = (head: Uint8Array): readonly string[] =>
  told((tell) => {
    for (const [type, chunk] of chunks(head, 8, false)) {
      const nul = chunk.indexOf(0);
      const keyword = textOf(chunk.subarray(0, Math.max(0, Math.min(nul, MOST_WORDS))));
      if (type === 'eXIf') tiff(chunk, tell);
      else if (keyword === 'XML:com.adobe.xmp') xmp(chunk, tell);
      // Behind the keyword of an iTXt stand flags and two more texts, and a zTXt is compressed.
      else if (type === 'tEXt') tell(keyword, textOf(chunk.subarray(nul + 1, nul + 1 + MOST_WORDS)));
      else if (type === 'iTXt' || type === 'zTXt') tell(keyword);
    }
  });

export const readWebp = (head: Uint8Array): readonly string[] =>
  told((tell) => {
    for (const [type, chunk] of chunks(head, 12, true)) {
      // They stand at the end, which may not be here; the flags stand at the beginning.
      if (type === 'VP8X' && (chunk[0]! & 8) !== 0) tell('Exif data');
      if (type === 'VP8X' && (chunk[0]! & 4) !== 0) tell('XMP data');
      if (type === 'EXIF') tiff(startsWith(chunk, 'Exif\0\0') ? chunk.subarray(6) : chunk, tell);
      if (type === 'XMP ') xmp(chunk, tell);
    }
  });

/** Of PNG (the length, the type, content, a checksum) or of RIFF (the type, the length, content, even). */
function* chunks(head: Uint8Array, start: number, isRiff: boolean): Generator<readonly [string, Uint8Array]> {
  const view = viewOf(head);
  for (let at = start; at + 8 <= head.length;) {
    const size = view.getUint32(isRiff ? at + 4 : at, isRiff);
    const type = textOf(head.subarray(isRiff ? at : at + 4, isRiff ? at + 4 : at + 8));
    yield [type, head.subarray(at + 8, at + 8 + size)];
    at += 8 + size + (isRiff ? size % 2 : 4);
  }
}

function tiff(bytes: Uint8Array, tell: Tell): void {
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
      const [tag, type] = [view.getUint16(at, isLittle), view.getUint16(at + 2, isLittle)];
      const [size, value] = [view.getUint32(at + 4, isLittle), view.getUint32(at + 8, isLittle)];
      // Four bytes stand in the entry itself.
      const contentAt = size <= 4 ? at + 8 : value;
      const content = bytes.subarray(contentAt, contentAt + size);
      const label = TIFF_LABELS[tag];
      // ASCII or UTF-8.
      if (label !== undefined && (type === 2 || type === 129))
        tell(label, textOf(content.subarray(0, MOST_WORDS)));
      else if (tag === XMP_TAG && !hasXmp) {
        hasXmp = true;
        xmp(content, tell);
      } else if (tag === EXIF_FOLDER) folders.push(value);
      else if (tag === GPS_FOLDER) tell('place (GPS)');
    }
  }
}

/** XML, of which only a few elements and attributes are looked for. */
function xmp(bytes: Uint8Array, tell: Tell): void {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  for (const [name, label] of XMP_LABELS) {
    const at = text.indexOf(name);
    if (at < 0) continue;
    const behind = text.slice(at + name.length, at + name.length + 400);
    const [, words = ''] =
      /^\s*=\s*["']([^"'<]*)/.exec(behind) ?? /^[^>]*>\s*(?:<[^>]*>\s*)*([^<]*)/.exec(behind) ?? [];
    tell(label, words);
  }
}

/** Data sets of the second record: 1c 02, the number, the length. */
function iptc(bytes: Uint8Array, tell: Tell): void {
  for (let at = bytes.indexOf(0x1c); at >= 0 && at + 5 <= bytes.length; at = bytes.indexOf(0x1c, at + 1)) {
    const label = bytes[at + 1] === 2 ? IPTC_LABELS[bytes[at + 2]!] : undefined;
    const size = viewOf(bytes).getUint16(at + 3);
    if (label !== undefined) tell(label, textOf(bytes.subarray(at + 5, at + 5 + Math.min(size, MOST_WORDS))));
  }
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  new DataView(buffer, byteOffset, byteLength);
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString().replaceAll('\ufffd', '');
const startsWith = (bytes: Uint8Array, text: string) => textOf(bytes.subarray(0, text.length)) === text;
