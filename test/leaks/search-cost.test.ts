/**
 * The most that a search of a push costs: a few kilobytes can hold millions of places where
 * something may begin. The beginnings are those of the searches' own tables, so a new one is tested
 * by being there.
 */
import { describe, expect, it, vi } from 'vitest';
import { DeltaReader } from '../../src/git/pack/delta.ts';
import { SearchedNames } from '../../src/git/search/searched-names.ts';
import { kindOfFile, PICTURES } from '../../src/leaks/file-kinds.ts';
import { HOSTILE_MESSAGES } from '../support/hostile-messages.ts';
import { commitContent, treeContent } from '../support/objects.ts';
import { search } from '../support/name-searching.ts';
import {
  copyInstruction,
  deltaSize,
  type Entry,
  insertInstructions,
  oidOf,
} from '../support/pack-builder.ts';
import { exifSegment, jpeg, png, tiff, webp, xmpSegment } from '../support/pictures.ts';
import { IN_FILES, IN_MESSAGES } from '../support/worst-parts.ts';
import { workOf } from '../support/work-meter.ts';
import { exhaustive } from '../support/exhaustive.ts';

/** The login is one word, which is only noted. */
const AUTHOR = 'Ada Lovelace <contributor@users.noreply.github.com>';
/** However much is sent. */
const MOST_LOOKS = 40_000;
/** In a first look, a closer one, and one at messages. */
const MOST_FINDS = 260_000;
const FREE_BYTES = 5_000_000;
/** For each byte of a message: as Latin-1, once for its words and once for ids. */
const MOST_DECODED = 2;

const blob = (content: Uint8Array): Entry => ({ type: 'blob', content: Buffer.from(content) });
const full = (part: string, bytes: number): Buffer => Buffer.alloc(bytes, Buffer.from(part, 'latin1'));

function describePushOf(size: number): void {
  const expectLittle = async (pushed: Partial<Parameters<typeof search>[0]>): Promise<void> => {
    const { looks, bytes, finds } = await workOf(() => search({ authors: [AUTHOR], ...pushed }));
    expect(looks, 'looks').toBeLessThan(MOST_LOOKS);
    expect(finds, 'finds').toBeLessThan(MOST_FINDS);
    expect(bytes, 'bytes').toBeLessThan(FREE_BYTES + MOST_DECODED * size);
  };

  it.each(IN_FILES)('is looked at a bounded number of times if a file is full of %j', (part) =>
    expectLittle({ files: [blob(full(part, size))] }),
  );

  it.each(IN_FILES)('is looked at a bounded number of times if a delta inserts only %j', (part) => {
    const inserts = insertInstructions(full(part, size));
    const delta = Buffer.concat([deltaSize(1), deltaSize(size), inserts]);
    return expectLittle({ files: [blob(Buffer.from('x')), { type: 'ofs-delta', base: 1, delta }] });
  });

  it.each(IN_MESSAGES)('is looked at a bounded number of times if a message is full of %j', (part) =>
    expectLittle({ message: full(part, size) }),
  );

  it.each(Object.entries(HOSTILE_MESSAGES))(
    'is looked at a bounded number of times if a message is full of %s',
    (_, make) => expectLittle({ message: make(size) }),
  );

  it('is looked at a bounded number of times if many messages, or many files, have some each', async () => {
    const each = full(' AKIAABCDEFGHIJKLMNOP', 210);
    const count = Math.ceil(size / 1_000);
    await expectLittle({ authors: Array.from({ length: count }, () => AUTHOR), message: each });
    await expectLittle({
      files: Array.from({ length: count }, (_, at) => blob(Buffer.concat([each, Buffer.from(`${at}`)]))),
    });
  });

  it('is looked at a bounded number of times if it is one folder, whose entries are all the same', () => {
    const entry = treeContent([{ name: '.DS_Store', oid: oidOf('blob', Buffer.from('1')) }]);
    const content = Buffer.alloc(Math.min(size, 120_000), entry);
    return expectLittle({
      files: Array.from({ length: size / 10_000 }, (_, at) => ({
        type: 'tree' as const,
        content: Buffer.concat([
          treeContent([{ name: `${at}`, oid: oidOf('blob', Buffer.from('')) }]),
          content,
        ]),
      })),
    });
  });
}

describe('a push of 100,000 bytes', () => describePushOf(100_000));
describe('a push of a megabyte', exhaustive, () => describePushOf(1_000_000));

it('deltas that are full of copies are read once, and applied as far as a few megabytes of them', async () => {
  const bytes = 1_000_000;
  const copies = bytes / 2;
  const delta = Buffer.concat([deltaSize(1), deltaSize(copies), Buffer.alloc(bytes, copyInstruction(0, 1))]);
  const deltas = Array.from({ length: 5 }, (_, at): Entry => ({ type: 'ofs-delta', base: at + 1, delta }));
  const files = Array.from(deltas, (_, at) => blob(Buffer.from([at])));
  const take = vi.spyOn(DeltaReader.prototype, 'take');
  await search({ authors: [AUTHOR], files: [...files, ...deltas] });
  const read = take.mock.calls.reduce((sum, [{ length }]) => sum + length, 0);
  take.mockRestore();
  expect(read).toBeGreaterThan(deltas.length * bytes);
  expect(read).toBeLessThan(9 * bytes);
});

const often = <T>(one: T): T[] => Array.from({ length: 5_000 }, () => one);

describe('a picture', () => {
  const exif = tiff({ 0x010f: 'Nokia', 0x013b: 'Ada' }, { 0x9003: '2009' }, true);
  const tiffs = Buffer.alloc(100_000, Buffer.from([0x3b, 1, 2, 0, 80, 0, 0, 0, 10, 0, 0, 0]));
  tiffs.write('II*\0\x08\0\0\0\xff\xff', 'latin1');
  const xmp = '<dc:creator>Ada</dc:creator>';
  const FULL: Readonly<Record<string, readonly Buffer[]>> = {
    'JPEG picture': [
      jpeg(...often([0xfe, Buffer.from('by Ada')] as const)),
      jpeg(...often(exifSegment(exif))),
      jpeg(...often(xmpSegment(xmp))),
      jpeg(...often([0xed, Buffer.from([0x1c, 2, 80, 0, 3, 0x41, 0x64, 0x61])] as const)),
    ],
    'PNG picture': [
      png(...often(['tEXt', Buffer.from('Author\0Ada')] as const)),
      png(...often(['tEXt', Buffer.from('a\0b')] as const)),
      png(...often(['eXIf', exif] as const)),
      png(...often(['iTXt', Buffer.from(`XML:com.adobe.xmp\0${xmp}`)] as const)),
    ],
    'WebP picture': [
      webp(...often(['EXIF', exif] as const)),
      webp(...often(['XMP ', Buffer.from(xmp)] as const)),
      webp(...often(['VP8X', Buffer.from([12])] as const)),
    ],
    'TIFF or raw picture': [tiffs],
  };

  const empty = Buffer.alloc(0);
  it.each([
    ['JPEG', jpeg(...often([0xe1, empty] as const))],
    ['PNG', png(...often(['tEXt', empty] as const))],
    ['WebP', webp(...often(['XMPx', empty] as const))],
  ])('that is full of empty pieces, a %s picture, is read only at its beginning', (_, whole) => {
    const head = whole.subarray(0, 128 * 1024);
    const decoded = vi.spyOn(Buffer.prototype, 'toString');
    const tells = kindOfFile(head.subarray(0, 264))?.read?.(head);
    const { length } = decoded.mock.calls;
    decoded.mockRestore();
    expect(tells).toEqual([]);
    expect(length).toBeGreaterThan(100);
    expect(length).toBeLessThan(2_000);
  });

  it.each(PICTURES)('that is full of what is read, a %s, is read a bounded number of times', async (name) => {
    expect(FULL[name]).toBeDefined();
    for (const whole of FULL[name] ?? []) {
      const head = whole.subarray(0, 128 * 1024);
      const { looks, bytes } = await workOf(() => kindOfFile(head.subarray(0, 264))?.read?.(head));
      expect(kindOfFile(head.subarray(0, 264))?.name).toBe(name);
      expect(looks, 'looks').toBeLessThan(1_000);
      expect(bytes, 'bytes').toBeLessThan(3 * head.length);
    }
  });
});

it.each([
  ['longer than any name', 'a b c '.repeat(160)],
  ['those of programs', `${'é b c '.repeat(14)}[bot]`],
])('names of authors that are not searched for cost little: %s', async (_, name) => {
  const headers = Array.from({ length: 399 }, (__, at) => ({
    content: commitContent({ author: `${at} ${name} <a@b.c> 1 +0000`, committer: 'x <y> 1 +0000' }),
    encoding: null,
  }));
  const { looks } = await workOf(() => new SearchedNames({ headers, originalIds: [], nobodys: [] }));
  expect(looks).toBeLessThan(MOST_LOOKS);
});
