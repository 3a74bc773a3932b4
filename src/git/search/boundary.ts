import type { ByteClass } from './byte-search.ts';

/** What stands around a word: everything but letters and digits. Bytes of other scripts count as letters. */
export const BOUNDARY: ByteClass = Array.from({ length: 128 }, (_, byte) => byte).filter(
  (byte) => !/[A-Za-z0-9]/.test(String.fromCharCode(byte)),
);
