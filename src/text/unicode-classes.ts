/**
 * In place of `uc.micro`, whose tables are 2 KB of the compressed bundle: JavaScript's own classes
 * of characters.
 */
export const Any = /[^]/u;
export const Cc = /\p{Cc}/u;
export const Cf = /\p{Cf}/u;
export const P = /\p{P}/u;
export const S = /\p{S}/u;
export const Z = /\p{Z}/u;
