/**
 * Makes and checks the token in a form. It proves that the service made this form for this path,
 * not long ago. There is no cookie that a page of someone else could misuse. The token keeps
 * programs from posting forms that they have never fetched, and names the form, so that a change
 * that is sent twice opens one pull request. It has the form `<milliseconds in base 36>-<16 random
 * hex digits>-<32 hex digits of an HMAC>`.
 * Proved by test/routes/request/form-fields.test.ts.
 */
import { isSameSecret, keyedHash } from './keyed-hash.ts';

/** Maximum age of a form. People may write for a long time. */
export const FORM_LIFE_MS = 24 * 60 * 60 * 1000;
const RANDOM_BYTES = 8;
const HASH_LENGTH = 32;
const PATTERN = /^([0-9a-z]{1,11})-([0-9a-f]{16})-([0-9a-f]{32})$/;

export interface FormToken {
  readonly text: string;
  /** The time of the form, in milliseconds since 1970. */
  readonly madeAt: number;
}

/**
 * Makes a token.
 * @param path is where the form is sent to.
 * @param random has at least 8 bytes.
 */
export function newFormToken(secret: string, path: string, now: number, random: Uint8Array): string {
  const name = `${now.toString(36)}-${Buffer.from(random.subarray(0, RANDOM_BYTES)).toString('hex')}`;
  return `${name}-${hashOf(secret, path, name)}`;
}

/**
 * Checks the token of a form that was sent to `path`.
 * @returns `expired` if it is too old or from the future, null if the service did not make it for
 * this path.
 */
export function readFormToken(
  secret: string,
  path: string,
  text: string,
  now: number,
): FormToken | 'expired' | null {
  const [, time = '', random = '', hash = ''] = PATTERN.exec(text) ?? [];
  if (hash === '' || !isSameSecret(hash, hashOf(secret, path, `${time}-${random}`))) return null;
  const madeAt = Number.parseInt(time, 36);
  return madeAt <= now && now - madeAt <= FORM_LIFE_MS ? { text, madeAt } : 'expired';
}

function hashOf(secret: string, path: string, name: string): string {
  return keyedHash(secret, 'form', `${name} ${path}`).slice(0, HASH_LENGTH);
}
