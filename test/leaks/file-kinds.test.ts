/** Pictures that say something, and proof that whatever is broken in them ends the reading. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { kindOfFile } from '../../src/leaks/file-kinds.ts';
import { exifSegment, jpeg, png, tiff, webp, xmpSegment } from '../support/pictures.ts';
import { runs } from '../support/runs.ts';

const read = (picture: Uint8Array): readonly string[] =>
  kindOfFile(picture.subarray(0, 264))?.read?.(picture) ?? [];

const TAGS = { 0x010f: 'Nokia', 0x0110: 'N95', 0x0131: 'GIMP 2.10', 0x013b: 'Ada Lovelace' };
const EXIF = { 0x9003: '2009:02:13 23:31:30', 0xa430: 'Ada', 0xa431: 'S123456' };
const HAS_EXIF = 'has Exif data, perhaps a place';
const HAS_XMP = 'has XMP data, perhaps a place';
const SAID = ['author Ada Lovelace', HAS_EXIF, 'author Ada'];
const XMP =
  '<x:xmpmeta><rdf:Description xmp:CreatorTool="Krita"><dc:creator><rdf:Seq><rdf:li>Ada L.</rdf:li></rdf:Seq></dc:creator></rdf:Description>';
const IPTC = Buffer.concat([
  Buffer.from('Photoshop 3.0\x008BIM\x04\x04\0\0\0\0\0\x0f'),
  Buffer.from([0x1c, 2, 80, 0, 3]),
  Buffer.from('Ada'),
]);

describe('that a picture has Exif data, and what they say of its author', () => {
  it.each([true, false])('is read in either order of bytes: little %s', (isLittle) => {
    const exif = tiff(TAGS, EXIF, true, isLittle);
    for (const picture of [jpeg(exifSegment(exif)), png(['eXIf', exif]), webp(['EXIF', exif]), exif])
      expect(read(picture).toSorted()).toEqual(SAID.toSorted());
  });
});

it.each([
  ['XMP', jpeg(xmpSegment(XMP)), [HAS_XMP, 'author Ada L.']],
  ['XMP in PNG', png(['iTXt', Buffer.from(`XML:com.adobe.xmp\0\0\0\0\0${XMP}`)]), [HAS_XMP, 'author Ada L.']],
  ['XMP in WebP', webp(['XMP ', Buffer.from(XMP)]), [HAS_XMP, 'author Ada L.']],
  [
    'XMP in WebP, behind its flag',
    webp(['VP8X', Buffer.from([4, 0, 0, 0, 0])], ['XMP ', Buffer.from(XMP)]),
    [HAS_XMP, 'author Ada L.'],
  ],
  ['IPTC', jpeg([0xed, IPTC]), ['author Ada']],
  [
    'the author of a PNG',
    png(['tEXt', Buffer.from('Author\0Ada')], ['tEXt', Buffer.from('Software\0x')]),
    ['author Ada'],
  ],
  [
    'flags of WebP, whose data stand at the end',
    webp(['VP8X', Buffer.from([12, 0, 0, 0, 0])]),
    [HAS_EXIF, HAS_XMP],
  ],
  ['nothing', jpeg(), []],
  ['nothing', png(), []],
] as const)('%s is read', (_, picture, said) => {
  expect(read(picture)).toEqual(said);
});

describe('a broken picture', () => {
  const whole = [
    jpeg(exifSegment(tiff(TAGS, EXIF, true)), xmpSegment(XMP), [0xed, IPTC]),
    png(['eXIf', tiff(TAGS, EXIF)], ['tEXt', Buffer.from('Author\0Ada')]),
    webp(['EXIF', tiff(TAGS)]),
    tiff(TAGS, EXIF, true),
  ];

  it('ends the reading, wherever it is broken or cut', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...whole),
        fc.array(fc.tuple(fc.nat(400), fc.integer({ min: 0, max: 255 })), { maxLength: 20 }),
        fc.nat(600),
        (picture, changes, end) => {
          const broken = Buffer.from(picture);
          for (const [at, byte] of changes) if (at > 8 && at < broken.length) broken[at] = byte;
          const said = read(broken.subarray(0, end));
          expect(said.length).toBeLessThan(14);
          expect(said.every((line) => line.length < 200)).toBe(true);
        },
      ),
      runs(700),
    );
  });

  it('may name itself in circles', () => {
    const circle = Buffer.from(tiff({ 0x010f: 'Nokia' }));
    const entry = circle.indexOf(Buffer.from([0x0f, 0x01]));
    circle.writeUInt16LE(0x8769, entry);
    circle.writeUInt32LE(8, entry + 8);
    expect(read(circle)).toEqual([HAS_EXIF]);
  });

  it('of 10 MB costs no more than its beginning', () => {
    const large = Buffer.concat([jpeg(exifSegment(tiff(TAGS))), Buffer.alloc(10_000_000, 0xff)]);
    expect(read(large)).toEqual([HAS_EXIF, 'author Ada Lovelace']);
    const chunks = png(...Array.from({ length: 5_000 }, () => ['tEXt', Buffer.from('Author\0Ada')] as const));
    expect(read(chunks)).toEqual(['author Ada', 'and more']);
    const entries = Buffer.concat([
      Buffer.from('II*\0\x08\0\0\0\xff\xff', 'latin1'),
      Buffer.alloc(120_000, 0xbc),
    ]);
    expect(read(entries)).toEqual([]);
  });
});

it.each([
  ['%PDF-1.7', 'PDF document'],
  ['PK\x03\x04', 'office document, book or archive (ZIP)'],
  ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'office document (OLE)'],
  ['\0\0\0\x18ftypheic', 'HEIF picture or video'],
  ['GIF89a', 'GIF picture'],
  ['\xff\x0a\xfa\x7f', 'JPEG XL picture'],
  ['\0\0\0\x0cJXL \r\n\x87\n\0\0', 'JPEG XL picture'],
  ['BM\x36\x10\0\0\0\0\0\0\x36', 'BMP picture'],
  ['BM = Basalt Mine\n', undefined],
  ['\x1f\x8b\x08', 'archive'],
  [`${'x'.repeat(257)}ustar\0`, 'archive (tar)'],
  ['ID3\x03', 'sound'],
  ['RIFF\0\0\0\0WAVE', 'sound'],
  ['SQLite format 3\0', 'database'],
  ['#!/bin/sh\n', undefined],
  ['', undefined],
  ['P', undefined],
])('%j is known by its first bytes: %s', (bytes, name) => {
  expect(kindOfFile(Buffer.from(bytes, 'latin1'))?.name).toBe(name);
});

it.each([
  ['program (ELF)', '\x7fELF\x02\x01\x01'],
  ['program (PE)', `MZ\x90\0\x03${'\0'.repeat(60)}`],
  ['program (Mach-O)', '\xcf\xfa\xed\xfe\x07'],
  ['program (Java or Mach-O)', '\xca\xfe\xba\xbe\0\0\0\x41'],
  ['program (WebAssembly)', '\0asm\x01\0\0\0'],
  ['program (Python)', '\xcb\r\r\n\0\0\0\0'],
  ['program (Python)', '\x2b\x0e\r\n\x01\0\0\0'],
  ['library (ar)', '!<arch>\nx.o/'],
])('%s is known by its first bytes', (name, bytes) => {
  expect(kindOfFile(Buffer.from(bytes, 'latin1'))?.name).toBe(name);
});

it.each(['MZ is what it begins with, and it is a text of some length', 'x\r\r\n text', 'x\n\r\n', '!<arch'])(
  '%j is a text',
  (text) => {
    expect(kindOfFile(Buffer.from(text))).toBeNull();
  },
);
