/**
 * Recognizes credentials, which name their owner's account to the issuer and all whom it tells, by
 * forms that issuers have published. A credential is proven if its checksum is right, or nobody
 * writes such a structure by hand. Of others, the person is only told, unless the operator has all
 * refused.
 */
import { crc32 } from 'node:zlib';
import { latin1 } from '../bytes.ts';
import type { Looks } from './looks.ts';
import { beginning, BOUNDARY, type ByteClass } from './text-search.ts';

export interface Credential {
  /** Completes "It is …". */
  readonly what: string;
  readonly isProven: boolean;
  /** The bytes of the credential as Latin-1. Of a private key, it is the beginning. */
  readonly text: string;
}

/** A number of characters of a kind. Without `most`, it is exactly `least`. */
type Run = readonly [of: RegExp, least: number, most?: number];

interface Kind {
  readonly what: string;
  /**
   * The beginning, as characters or choices of them. If it begins with a letter or digit, nothing
   * of a word may stand before it.
   */
  readonly begins: Iterable<string>;
  /** The characters that must follow. They are tested byte by byte, before anything is copied. */
  readonly needs: readonly Run[];
  readonly form: RegExp;
  /**
   * Matches what may continue after the end of the bytes, and the first run of `needs` in which the
   * bytes may end.
   */
  readonly part?: RegExp;
  readonly partFrom?: number;
  /**
   * Tells if a credential is proven.
   * @param bytes begin with it, and end with the file.
   */
  readonly isProven?: ((text: string, bytes: Uint8Array) => boolean) | undefined;
}

const ANYTHING: ByteClass = Array.from({ length: 256 }, (_, byte) => byte);
const BASE_62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const CHECKED = /^[a-z]{3}_([0-9A-Za-z]{30})([0-9A-Za-z]{6})$/;
/** Offset from the end of a macaroon's last packet: its signature, 32 bytes. */
const SIGNATURE_START = -34;
const OPENSSH_MAGIC = 'openssh-key-v1\0';
/** Minimum size of a key, because documents show the beginning of one. */
const LEAST_OF_OPENSSH = 200;
/**
 * The tag and the length of DER (ITU-T X.690, section 8.1). A long length says how many bytes it
 * takes.
 */
const DER_SEQUENCE = 0x30;
const LONG_LENGTH = 0x80;
const MOST_OF_LENGTH = 4;

/**
 * The kinds of credentials. Tokens of Gitea and Forgejo are 40 hexadecimal digits, like ids of
 * commits, so they are found only in addresses.
 */
export const CREDENTIALS: readonly Kind[] = [
  // github.blog, 5 April 2021, "Behind GitHub's new authentication token formats"; longer ones
  // since 2026.
  formed(
    'a token of GitHub',
    ['g', 'h', 'oprsu', '_'],
    [[/[\w.-]/, 36]],
    /gh[oprsu]_[\w.-]{36,600}/y,
    hasChecksum,
  ),
  // docs.github.com, "About authentication to GitHub".
  formed('a token of GitHub', 'github_pat_', [[/\w/, 82]], /github_pat_\w{82}/y),
  // docs.gitlab.com, "GitLab token overview", token prefixes.
  formed(
    'a token of GitLab',
    ['g', 'l', 'dpr', 'at', 't-'],
    [[/[\w.-]/, 20]],
    /gl(?:pat|dt|rt)-[\w.-]{20,300}/y,
  ),
  // github.blog, 23 September 2021, "npm has a new access token format".
  formed('a token of npm', 'npm_', [[/[0-9A-Za-z]/, 36]], /npm_[0-9A-Za-z]{36}/y, hasChecksum),
  // pypi.org/help, "What are API tokens": a macaroon (libmacaroons, format 2) of pypi.org or
  // test.pypi.org.
  formed('a token of PyPI', 'pypi-AgE', [[/[\w-]/, 50]], /pypi-AgE[\w-]{50,600}/y, isMacaroon),
  // docs.slack.dev, "Tokens".
  formed(
    'a token of Slack',
    ['x', 'o', 'x', 'abeoprs', '-.'],
    [[/[\w-]/, 21]],
    /xox[abeoprs][.-](?:xox[bp]-)?\d[\w-]{20,300}/y,
  ),
  // docs.aws.amazon.com, "IAM identifiers", unique identifiers: it tells the account.
  formed(
    'a key id of AWS',
    ['A', 'KS', 'I', 'A'],
    [[/[A-Z2-7]/, 16]],
    /A[KS]IA(?!\w{9}EXAMPLE)[A-Z2-7]{16}(?!\w)/y,
  ),
  // RFC 7468, sections 10 and 11; openssh-portable, PROTOCOL.key; RFC 9580, section 6.2. In JSON,
  // "\n" ends a line.
  {
    what: 'a private key',
    begins: '-----BEGIN ',
    needs: [
      [/[A-Z ]/, 'PRIVATE KEY'.length, 74],
      [/-/, 5],
    ],
    form: /-----BEGIN (?:[A-Z]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:[\s"'+,]|\\[nr]){1,20}(?:Proc-Type: 4,ENC|Version: |Comment: |[0-9A-Za-z+/]{40})/y,
    part: /^-----BEGIN (?!CERT|PUBLIC|X509|NEW)/,
    isProven: isPrivateKey,
  },
  // RFC 3986, section 3.2.1. Not what documents write in place of one, nor of this machine.
  {
    what: 'a password in an address',
    begins: '://',
    needs: [
      [/[\w.~+-]/, 1, 100],
      [/:/, 1],
      [/[\w.~!&=+,;*%-]/, 3, 600],
      [/@/, 1],
    ],
    partFrom: 2,
    form: /:\/\/[\w.~+-]{1,100}:(?!(?:[x*.]+|pass(?:word|wd)?|pwd?|secret|token|user|key|root|postgres)@)(?:[\w.~!&=+,;*-]|%[0-9a-f]{2}){3,200}@(?!localhost|127\.|(?:[\w-]{1,30}\.){0,3}example\.|\W)/iy,
    part: /^:\/\/[\w.~+-]{1,100}:(?!\d)[^\s/]{1,200}$/,
  },
  // RFC 4253, section 6.6, in OpenSSH's form (sshd(8), AUTHORIZED_KEYS): every such key begins with
  // three zero bytes.
  formed(
    'an SSH key with the name of its owner or machine',
    ' AAAA',
    [
      [/[0-9A-Za-z+/]/, 60, 1_400],
      [/=/, 0, 2],
      [/ /, 1],
      [/[\w.+-]/, 1, 64],
      [/@/, 1],
    ],
    / AAAA[0-9A-Za-z+/]{60,1400}={0,2} [\w.+-]{1,64}@[\w-]{1,64}/y,
  ),
  // nbformat, "Metadata": Google's Colab writes its user into each cell that was run.
  formed(
    'the id of an account, as Colab writes it',
    '"userId": "',
    [[/\d/, 16, 24]],
    /"userId": "\d{16,24}"/y,
  ),
];

function formed(
  what: string,
  begins: Iterable<string>,
  needs: readonly Run[],
  form: RegExp,
  isProven?: Kind['isProven'],
): Kind {
  return { what, begins, needs, form, isProven };
}

/** Maximum length of a credential, and of a private key. */
const MOST = 1_600;
const MOST_OF_KEY = 17_000;
const DASHES = '-----';
const USUAL_PART = /^[\w .+/=-]*$/;

/** The texts to search for, in the order of CREDENTIALS. */
export const CREDENTIAL_TEXTS = CREDENTIALS.map(({ begins }) =>
  beginning(/^\w/.test(Array.from(begins).join('')) ? BOUNDARY : ANYTHING, begins),
);

/** The length of each kind's beginning, and what must follow, as bytes. */
const NEEDS = CREDENTIALS.map(({ begins, needs, partFrom = 0 }) => ({
  letters: Array.from(begins).length,
  partFrom,
  runs: needs.map(([of, least, most = least]) => ({
    isOf: Uint8Array.from(ANYTHING, (byte) => Number(of.test(String.fromCharCode(byte)))),
    least,
    most,
  })),
}));

/**
 * Reads the credential that begins at `at`.
 * @param kind is an index of CREDENTIAL_TEXTS.
 * @returns null if there is none, or too many looks were taken, and `cut` if the bytes end too
 * soon.
 */
export function credentialAt(
  bytes: Uint8Array,
  at: number,
  kind: number,
  looks: Looks,
): Credential | 'cut' | null {
  const { what, form, part = USUAL_PART, isProven } = CREDENTIALS[kind]!;
  if (!mayFollow(bytes, at, kind) || !looks.take(what)) return null;
  const end = Math.min(bytes.length, at + MOST);
  const begun = latin1(bytes, at, end);
  form.lastIndex = 0;
  const [found] = form.exec(begun) ?? [];
  if (found === undefined) return end === bytes.length && part.test(begun) ? 'cut' : null;
  // Decode it again, because a part of a text keeps all of it in memory.
  const text = latin1(bytes, at, at + found.length);
  return { what, isProven: isProven?.(text, bytes.subarray(at)) === true, text };
}

/**
 * Tells if the required characters follow the beginning, or the bytes end before that can be told.
 */
function mayFollow(bytes: Uint8Array, start: number, kind: number): boolean {
  const { runs, letters, partFrom } = NEEDS[kind]!;
  let at = start + letters;
  for (let run = 0; run < runs.length; run++) {
    const { isOf, least, most } = runs[run]!;
    const from = at;
    const end = Math.min(bytes.length, at + most);
    while (at < end && isOf[bytes[at]!] === 1) at++;
    if (at === bytes.length) return run >= partFrom;
    if (at - from < least) return false;
  }
  return true;
}

/** Checks the last six digits, the CRC-32 of the thirty before them. */
function hasChecksum(token: string): boolean {
  const [, entropy = '', checksum = ''] = CHECKED.exec(token) ?? [];
  const sum = Array.from(checksum).reduce((value, digit) => 62 * value + BASE_62.indexOf(digit), 0);
  return checksum !== '' && sum === crc32(entropy);
}

function isMacaroon(token: string): boolean {
  const bytes = Buffer.from(token.slice('pypi-'.length), 'base64url');
  return bytes.at(SIGNATURE_START) === 6 && bytes.at(SIGNATURE_START + 1) === 32;
}

/**
 * Recognizes a whole ASN.1 sequence with the length that it gives, or OpenSSH's own form. A key
 * ends at the next dashes, so no byte is read for two keys, however many headers there are.
 */
function isPrivateKey(begun: string, bytes: Uint8Array): boolean {
  const start = begun.indexOf(DASHES, DASHES.length) + DASHES.length;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, MOST_OF_KEY));
  const end = text.indexOf(DASHES, start);
  const base64 = text.subarray(start, end < 0 ? text.length : end).toString('latin1');
  const key = Buffer.from(base64.replaceAll(/\\[nr]|\s\+\s|[\s"',]/g, ''), 'base64');
  const isOpenSsh = key.subarray(0, OPENSSH_MAGIC.length).toString('latin1') === OPENSSH_MAGIC;
  if (isOpenSsh) return key.length >= LEAST_OF_OPENSSH;
  const [tag, length = 0] = key;
  const size = length < LONG_LENGTH ? 0 : length - LONG_LENGTH;
  if (tag !== DER_SEQUENCE || size > MOST_OF_LENGTH || key.length < 2 + size) return false;
  return key.length === 2 + size + (size === 0 ? length : key.readUIntBE(2, size));
}
