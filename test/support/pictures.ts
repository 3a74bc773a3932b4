/** Pictures that show next to nothing, and say what they are given to say. */
import { crc32 } from 'node:zlib';

/** The tags of TIFF's first folder, or of the two that it may name: text by its number. */
export type Tags = Readonly<Record<number, string>>;

const ENTRY = 12;

/** @param gps whether it has a folder of the place. */
export function tiff(tags: Tags, exif: Tags = {}, gps = false, isLittle = true): Buffer {
  const parts: Buffer[] = [];
  let end = 8;
  const number = (value: number, size: 2 | 4): Buffer => {
    const bytes = Buffer.alloc(size);
    if (isLittle) bytes.writeUIntLE(value, 0, size);
    else bytes.writeUIntBE(value, 0, size);
    return bytes;
  };
  /** Answers where it begins. */
  const folder = (texts: Tags, folders: Readonly<Record<number, number>>): number => {
    const values: Buffer[] = [];
    const count = Object.keys(texts).length + Object.keys(folders).length;
    let free = end + 2 + count * ENTRY + 4;
    const entries = Object.entries(texts).map(([tag, text]) => {
      const value = Buffer.from(`${text}\0`);
      const isShort = value.length <= 4;
      const place = isShort ? Buffer.concat([value, Buffer.alloc(4)]).subarray(0, 4) : number(free, 4);
      if (!isShort) {
        values.push(value);
        free += value.length;
      }
      return Buffer.concat([number(Number(tag), 2), number(2, 2), number(value.length, 4), place]);
    });
    for (const [tag, at] of Object.entries(folders))
      entries.push(Buffer.concat([number(Number(tag), 2), number(4, 2), number(1, 4), number(at, 4)]));
    const start = end;
    parts.push(Buffer.concat([number(count, 2), ...entries, number(0, 4), ...values]));
    end = free;
    return start;
  };
  const exifAt = Object.keys(exif).length === 0 ? 0 : folder(exif, {});
  const gpsAt = gps ? folder({ 1: 'N' }, {}) : 0;
  const folders = { ...(exifAt > 0 && { 0x8769: exifAt }), ...(gpsAt > 0 && { 0x8825: gpsAt }) };
  const first = folder(tags, folders);
  return Buffer.concat([Buffer.from(isLittle ? 'II' : 'MM'), number(42, 2), number(first, 4), ...parts]);
}

export function jpeg(...segments: readonly (readonly [marker: number, content: Uint8Array])[]): Buffer {
  const encoded = segments.map(([marker, content]) => {
    const head = Buffer.from([0xff, marker, 0, 0]);
    head.writeUInt16BE(content.length + 2, 2);
    return Buffer.concat([head, content]);
  });
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    ...encoded,
    Buffer.from([0xff, 0xda, 0, 2, 1, 2, 3, 0xff, 0xd9]),
  ]);
}

export const exifSegment = (content: Buffer) =>
  [0xe1, Buffer.concat([Buffer.from('Exif\0\0'), content])] as const;

export const xmpSegment = (xml: string) =>
  [0xe1, Buffer.from(`http://ns.adobe.com/xap/1.0/\0${xml}`)] as const;

export function png(...chunks: readonly (readonly [type: string, content: Uint8Array])[]): Buffer {
  const encoded = [['IHDR', Buffer.alloc(13)] as const, ...chunks, ['IEND', Buffer.alloc(0)] as const].map(
    ([type, content]) => {
      const named = Buffer.concat([Buffer.from(type), content]);
      const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
      length.writeUInt32BE(content.length);
      sum.writeUInt32BE(crc32(named));
      return Buffer.concat([length, named, sum]);
    },
  );
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...encoded]);
}

export function webp(...chunks: readonly (readonly [type: string, content: Uint8Array])[]): Buffer {
  const encoded = chunks.map(([type, content]) => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(content.length);
    return Buffer.concat([Buffer.from(type), length, content, Buffer.alloc(content.length % 2)]);
  });
  return Buffer.concat([Buffer.from('RIFF\0\0\0\0WEBP'), ...encoded]);
}
