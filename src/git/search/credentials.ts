/**
 * Credentials name their owner's account to all whom the issuer tells. Known by forms that issuers have published.
 * `isProven`: a checksum fits, or nobody writes such a structure by hand. Of others, a person is only told.
 */
import { crc32 } from 'node:zlib';
import { latin1 } from '../bytes.ts';
import { beginning, BOUNDARY, type ByteClass } from './text-search.ts';

export interface Credential {
  /** Completes "It is …". */
  readonly what: string;
  readonly isProven: boolean;
  /** As it is written, byte for byte (Latin-1); of a private key, the beginning. */
  readonly text: string;
}

interface Kind {
  readonly what: string;
  /** What a search looks for, as characters or choices of them. A word begins there, or what needs none. */
  readonly begins: Iterable<string>;
  readonly form: RegExp;
  /** What may go on, if the bytes end with it. */
  readonly part?: RegExp;
  /** @param bytes from there on, to the end of the file. */
  readonly isProven?: ((text: string, bytes: Uint8Array) => boolean) | undefined;
}

const ANYTHING: ByteClass = Array.from({ length: 256 }, (_, byte) => byte);
const BASE_62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const CHECKED = /^[a-z]{3}_([0-9A-Za-z]{30})([0-9A-Za-z]{6})$/;
/** A macaroon's last packet: its signature, 32 bytes. */
const SIGNATURE_START = -34;
const OPENSSH_MAGIC = 'openssh-key-v1\0';
/** Documents show the beginning of one. */
const LEAST_OF_OPENSSH = 200;
/** ITU-T X.690, section 8.1: a tag, then the length, or how many bytes it takes. */
const DER_SEQUENCE = 0x30;
const LONG_LENGTH = 0x80;
const MOST_OF_LENGTH = 4;

/** Tokens of Gitea and Forgejo are 40 hexadecimal digits, like ids of commits, so they are found in addresses only. */
const KINDS: readonly Kind[] = [
  // github.blog, 5 April 2021, "Behind GitHub's new authentication token formats"; longer ones since 2026.
  formed('a token of GitHub', ['g', 'h', 'oprsu', '_'], /gh[oprsu]_[\w.-]{36,600}/y, hasChecksum),
  // docs.github.com, "About authentication to GitHub".
  formed('a token of GitHub', 'github_pat_', /github_pat_\w{82}/y),
  // docs.gitlab.com, "GitLab token overview", token prefixes.
  formed('a token of GitLab', ['g', 'l', 'dpr', 'at', 't-'], /gl(?:pat|dt|rt)-[\w.-]{20,300}/y),
  // github.blog, 23 September 2021, "npm has a new access token format".
  formed('a token of npm', 'npm_', /npm_[0-9A-Za-z]{36}/y, hasChecksum),
  // pypi.org/help, "What are API tokens": a macaroon (libmacaroons, format 2) of pypi.org or test.pypi.org.
  formed('a token of PyPI', 'pypi-AgE', /pypi-AgE[\w-]{50,600}/y, isMacaroon),
  // docs.slack.dev, "Tokens".
  formed(
    'a token of Slack',
    ['x', 'o', 'x', 'abeoprs', '-.'],
    /xox[abeoprs][.-](?:xox[bp]-)?\d[\w-]{20,300}/y,
  ),
  // docs.aws.amazon.com, "IAM identifiers", unique identifiers: it tells the account.
  formed('a key id of AWS', ['A', 'KS', 'I', 'A'], /A[KS]IA(?!\w{9}EXAMPLE)[A-Z2-7]{16}(?!\w)/y),
  // RFC 7468, sections 10 and 11; openssh-portable, PROTOCOL.key; RFC 9580, section 6.2. In JSON, "\n" ends a line.
  {
    what: 'a private key',
    begins: '-----BEGIN ',
    form: /-----BEGIN (?:[A-Z]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:[\s"'+,]|\\[nr]){1,20}(?:Proc-Type: 4,ENC|Version: |Comment: |[0-9A-Za-z+/]{40})/y,
    part: /^-----BEGIN (?!CERT|PUBLIC|X509|NEW)/,
    isProven: isPrivateKey,
  },
  // RFC 3986, section 3.2.1. Not what documents write in place of one, nor of this machine.
  {
    what: 'a password in an address',
    begins: '://',
    form: /:\/\/[\w.~+-]{1,100}:(?!(?:[x*.]+|pass(?:word|wd)?|pwd?|secret|token|user|key|root|postgres)@)(?:[\w.~!&=+,;*-]|%[0-9a-f]{2}){3,200}@(?!localhost|127\.|(?:[\w-]{1,30}\.){0,3}example\.|\W)/iy,
    part: /^:\/\/[\w.~+-]{1,100}:(?!\d)[^\s/]{1,200}$/,
  },
  // RFC 4253, section 6.6, in OpenSSH's form (sshd(8), AUTHORIZED_KEYS): every such key begins with three zero bytes.
  formed(
    'an SSH key with the name of its owner or machine',
    ' AAAA',
    / AAAA[0-9A-Za-z+/]{60,1400}={0,2} [\w.+-]{1,64}@[\w-]{1,64}/y,
  ),
];

function formed(what: string, begins: Iterable<string>, form: RegExp, isProven?: Kind['isProven']): Kind {
  return { what, begins, form, isProven };
}

/** More is no credential; but a private key. */
const MOST = 1_600;
const MOST_OF_KEY = 17_000;
const USUAL_PART = /^[\w .+/=-]*$/;

/** In the order of `credentialAt`'s kinds. */
export const CREDENTIAL_TEXTS = KINDS.map(({ begins }) =>
  beginning(/^\w/.test(Array.from(begins).join('')) ? BOUNDARY : ANYTHING, begins),
);

/** What begins there; null: none. `cut`: the bytes end too soon. @param kind an index of CREDENTIAL_TEXTS. */
export function credentialAt(bytes: Uint8Array, at: number, kind: number): Credential | 'cut' | null {
  const { what, form, part = USUAL_PART, isProven } = KINDS[kind] as Kind;
  const end = Math.min(bytes.length, at + MOST);
  const text = latin1(bytes, at, end);
  form.lastIndex = 0;
  const [found] = form.exec(text) ?? [];
  if (found === undefined) return end === bytes.length && part.test(text) ? 'cut' : null;
  return { what, isProven: isProven?.(found, bytes.subarray(at)) === true, text: found };
}

/** The last six digits: the CRC-32 of the thirty before them. */
function hasChecksum(token: string): boolean {
  const [, entropy = '', checksum = ''] = CHECKED.exec(token) ?? [];
  const sum = Array.from(checksum).reduce((value, digit) => 62 * value + BASE_62.indexOf(digit), 0);
  return checksum !== '' && sum === crc32(entropy);
}

function isMacaroon(token: string): boolean {
  const bytes = Buffer.from(token.slice('pypi-'.length), 'base64url');
  return bytes.at(SIGNATURE_START) === 6 && bytes.at(SIGNATURE_START + 1) === 32;
}

/** One whole ASN.1 sequence with the length that it says, or OpenSSH's own form. */
function isPrivateKey(_: string, bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, MOST_OF_KEY));
  const base64 = text.subarray(text.indexOf('KEY-----') + 'KEY-----'.length, text.indexOf('-----END '));
  const key = Buffer.from(base64.toString('latin1').replaceAll(/\\[nr]|\s\+\s|[\s"',]/g, ''), 'base64');
  const isOpenSsh = key.subarray(0, OPENSSH_MAGIC.length).toString('latin1') === OPENSSH_MAGIC;
  if (isOpenSsh) return key.length >= LEAST_OF_OPENSSH;
  const [tag, length = 0] = key;
  const size = length < LONG_LENGTH ? 0 : length - LONG_LENGTH;
  if (tag !== DER_SEQUENCE || size > MOST_OF_LENGTH || key.length < 2 + size) return false;
  return key.length === 2 + size + (size === 0 ? length : key.readUIntBE(2, size));
}
