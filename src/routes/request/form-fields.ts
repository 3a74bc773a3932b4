/**
 * The fields of a form, as browsers send it (URL Standard, application/x-www-form-urlencoded), and
 * its secrets. Pure.
 */
import { fullName, type RepositoryName } from '../../words/repository-name.ts';
import type { FormToken } from '../../secret/form-token.ts';
import { keyedHash } from '../../secret/keyed-hash.ts';
import { base32, TOKEN_BYTES } from '../../secret/user-token.ts';

export type FormFields = ReadonlyMap<string, string>;

/**
 * More fields than any form of this service has. Each costs memory, and a body has room for
 * millions of empty ones.
 */
export const MAX_FIELDS = 32;

/**
 * Decodes a name or a value. Unlike URLSearchParams, it does not replace what is not UTF-8.
 * @throws URIError
 */
export const decoded = (text: string): string => decodeURIComponent(text.replaceAll('+', ' '));

/**
 * The first value of each field; null: no such form, too many fields, or not UTF-8. It takes as
 * much memory as the text.
 */
export function parseFormFields(text: string, most = MAX_FIELDS): FormFields | null {
  const fields = new Map<string, string>();
  const pairs = text.split('&', most + 1);
  if (pairs.length > most) return null;
  try {
    for (const pair of pairs.filter((each) => each !== '')) {
      const equals = pair.indexOf('=');
      if (equals < 1) return null;
      const [name, value] = [decoded(pair.slice(0, equals)), decoded(pair.slice(equals + 1))];
      if (!fields.has(name)) fields.set(name, value);
    }
  } catch {
    return null;
  }
  return fields;
}

/** Restores plain line ends, because browsers send those of a text field as CR LF. */
export function withPlainLineEnds(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n');
}

/**
 * 64 lower-case hex characters for each purpose. Nobody without the form and the service's secret
 * can know them.
 */
export type FormSecrets = (purpose: 'name' | 'hash' | 'delayed' | 'user-token') => string;

/**
 * Derives the secrets of a form. They are not random, so that a form that is sent twice gets the
 * same answer, and one that was corrected has others.
 */
export function formSecrets(
  secret: string,
  { text: token }: Pick<FormToken, 'text'>,
  typed: readonly string[],
): FormSecrets {
  const form = JSON.stringify([token, ...typed]);
  return (purpose) => keyedHash(secret, 'form', `${purpose} ${form}`);
}

/** The user token of an author who has none yet. */
export function userTokenOf(secrets: FormSecrets): string {
  return base32(Buffer.from(secrets('user-token'), 'hex').subarray(0, TOKEN_BYTES));
}

type NamedThread =
  | { readonly kind: 'thread'; readonly number: number }
  | { readonly kind: 'invalid'; readonly problem: string };

const NUMBER = /^#?([1-9]\d{0,14})$/;
/** Addresses of an issue or a pull request, and of a page below it. */
const ADDRESS =
  /^(?:https?:\/\/)?([^/?#]+)\/([^/?#]+)\/([^/?#]+)\/(?:issues|pulls?)\/([1-9]\d{0,14})(?:[/?#]|$)/;

const invalid = (problem: string): NamedThread => ({ kind: 'invalid', problem });

/**
 * The issue or pull request that someone names: its number, or its pasted address.
 * @param webUrl of the code host.
 */
export function parseThreadText(text: string, repository: RepositoryName, webUrl: string): NamedThread {
  const typed = text.trim();
  const [, number] = NUMBER.exec(typed) ?? [];
  if (number !== undefined) return { kind: 'thread', number: Number(number) };
  const [, host = '', owner = '', name = '', posted = ''] = ADDRESS.exec(typed) ?? [];
  if (posted === '')
    return invalid('Write the number of the issue or pull request, such as 12, or paste its address.');
  const [ownHost, own] = [new URL(webUrl).host, fullName(repository)];
  if (host.toLowerCase() !== ownHost.toLowerCase())
    return invalid(`This address is not on ${ownHost}. Paste the address of an issue or pull request there.`);
  if (`${owner}/${name}`.toLowerCase() !== own.toLowerCase())
    return invalid(`This address belongs to another repository than ${own}. Open its page first.`);
  return { kind: 'thread', number: Number(posted) };
}
