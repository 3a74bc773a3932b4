/**
 * Secrets that a form decides, and not chance: so a form that is sent twice, by a double click or from the browser's
 * history, is known the second time, and gets the same answer. What was typed belongs to them: a form that was
 * corrected in between is another one. Pure.
 */
import { keyedHash } from '../identity/keyed-hash.ts';
import type { FormToken } from './form-token.ts';

/** 64 lower-case hex characters for each purpose. Nobody without the form and the service's secret can know them. */
export type FormSecrets = (purpose: 'name' | 'hash' | 'key' | 'user-token') => string;

/** @param typed what the person has typed. */
export function formSecrets(
  secret: string,
  { text: token }: FormToken,
  typed: readonly string[],
): FormSecrets {
  const form = JSON.stringify([token, ...typed]);
  return (purpose) => keyedHash(secret, 'form', `${purpose} ${form}`);
}
