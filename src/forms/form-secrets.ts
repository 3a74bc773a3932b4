/**
 * Secrets that are derived from a form and not random. So a form that is sent twice, by a double click or from the
 * browser's history, is recognised and gets the same answer. They depend on what was typed, so a corrected form has
 * other secrets. Pure.
 */
import { base32, TOKEN_BYTES } from '../secret/user-token.ts';
import { keyedHash } from '../secret/keyed-hash.ts';
import type { FormToken } from '../secret/form-token.ts';

/** 64 lower-case hex characters for each purpose. Nobody without the form and the service's secret can know them. */
export type FormSecrets = (purpose: 'name' | 'hash' | 'user-token') => string;

/** @param typed what the person has typed. */
export function formSecrets(
  secret: string,
  { text: token }: Pick<FormToken, 'text'>,
  typed: readonly string[],
): FormSecrets {
  const form = JSON.stringify([token, ...typed]);
  return (purpose) => keyedHash(secret, 'form', `${purpose} ${form}`);
}

/** Of an author who has none yet. */
export function userTokenOf(secrets: FormSecrets): string {
  return base32(Buffer.from(secrets('user-token'), 'hex').subarray(0, TOKEN_BYTES));
}
