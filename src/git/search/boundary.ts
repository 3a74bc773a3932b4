import type { ByteClass } from './byte-search.ts';

/** Stands for the bytes that a delta copies from its base. No byte of UTF-8. */
export const COPY_MARK = 0xff;

/** What stands around a word: everything but letters and digits. Bytes of other scripts count as letters. */
export const BOUNDARY: ByteClass = Array.from({ length: 128 }, (_, byte) => byte)
  .filter((byte) => !/[A-Za-z0-9]/.test(String.fromCharCode(byte)))
  .concat(COPY_MARK);
