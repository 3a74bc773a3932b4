/**
 * Replaces the tables of `uc.micro` in the bundle, which saves 2 KB, by JavaScript's own classes of
 * characters.
 */
export const Any = /[^]/u;
export const Cc = /\p{Cc}/u;
export const Cf = /\p{Cf}/u;
export const P = /\p{P}/u;
export const S = /\p{S}/u;
export const Z = /\p{Z}/u;
