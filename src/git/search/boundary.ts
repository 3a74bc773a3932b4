import type { ByteClass } from './byte-search.ts';

/** What stands around a word: everything but letters and digits. Bytes of other scripts count as letters. */
export const BOUNDARY: ByteClass = Array.from({ length: 128 }, (_, byte) => byte).filter(
  (byte) => !/[A-Za-z0-9]/.test(String.fromCharCode(byte)),
);

/** Stands for the bytes that a delta copies from its base. A boundary, too, and no part of any text. */
export const COPY_MARK = 0x00;
