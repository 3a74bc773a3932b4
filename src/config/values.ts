/**
 * Readers for single values: text in, value out, `undefined` if it is not allowed. Each reader has
 * the sentence that says what is.
 * Proved by test/config/config.test.ts and test/limits/limits.test.ts.
 */
import { readSigningKey, type SigningKey, UnusableKey } from '../git/objects/ssh-signature.ts';
import type { Limit } from '../limits/sliding-window.ts';

/** How one kind of value is read. `rule` completes the sentence "NAME must be …". */
export interface ValueKind<T> {
  readonly rule: string;
  readonly parse: (text: string) => T | undefined;
  /** Names the wrong part of a refused list, without its content. */
  readonly faultIn?: (text: string) => string;
}

const MS_PER_SECOND = 1000;
const MS_PER_MINUTE = 60 * MS_PER_SECOND;
const MS_PER_HOUR = 60 * MS_PER_MINUTE;

/** The longest duration: a longer one is probably a mistake, and timers overflow at 2^31 ms. */
const MAX_DURATION_MS = 24 * MS_PER_HOUR;
const MAX_DELAY_MS = 7 * 24 * MS_PER_HOUR;

/**
 * Reads `1h30m`, `30s` or `500ms` as milliseconds: units from large to small, each at most once.
 */
export const duration: ValueKind<number> = {
  rule: 'a duration such as 30s, 1m, 500ms or 1h30m, from 1ms to 24h',
  parse(text) {
    const total = milliseconds(text);
    return total >= 1 && total <= MAX_DURATION_MS ? total : undefined;
  },
};

/** Reads the delay of a push as milliseconds: a duration that may have days, or 0 for none. */
export const delay: ValueKind<number> = {
  rule: 'a duration from 1m to 7d, such as 2h, or 0s for at once',
  parse(text) {
    const [, days = '0', rest = ''] = /^(?:(\d{1,3})d)?(.*)$/.exec(text) ?? [];
    const total = Number(days) * 24 * MS_PER_HOUR + (rest === '' && days !== '0' ? 0 : milliseconds(rest));
    return total === 0 || (total >= MS_PER_MINUTE && total <= MAX_DELAY_MS) ? total : undefined;
  },
};

/** Reads a short wait as milliseconds, or 0 for none. Proxies end longer silences. */
export const shortWait: ValueKind<number> = {
  rule: 'a duration from 0s to 60s',
  parse(text) {
    const total = milliseconds(text);
    return total <= MS_PER_MINUTE ? total : undefined;
  },
};

/** Gives NaN if the text is not a duration. */
function milliseconds(text: string): number {
  const match = /^(?=.)(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/.exec(text);
  const [hours, minutes, seconds, rest] = (match ?? []).slice(1).map((digits) => Number(digits ?? 0));
  return hours! * MS_PER_HOUR + minutes! * MS_PER_MINUTE + seconds! * MS_PER_SECOND + rest!;
}

/** Reads a number between two bounds, both included. */
export const wholeNumber = (least: number, most: number): ValueKind<number> => ({
  rule: `a whole number from ${least} to ${most}`,
  parse(text) {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    return value >= least && value <= most ? value : undefined;
  },
});

/** Bounds how many times are stored for each client. */
const MOST_IN_A_WINDOW = 10_000;
const MOST_WINDOWS = 4;

/**
 * Reads `60/1m,240/1h`: how often something may be done within which time. All entries apply.
 * @param longestHours the longest time that an entry may have.
 */
export const rateLimits = (longestHours: number): ValueKind<readonly Limit[]> => ({
  rule:
    `one to ${MOST_WINDOWS} limits separated by commas, such as 60/1m,240/1h: counts from 1 to ${MOST_IN_A_WINDOW}, ` +
    `each within a duration of at most ${longestHours}h`,
  parse(text) {
    const limits = text.split(',').map((part) => {
      const [, count = '', span = ''] = /^(\d{1,9})\/(\w+)$/.exec(part.trim()) ?? [];
      const withinMs = duration.parse(span) ?? Number.POSITIVE_INFINITY;
      const most = Number(count);
      const isValid = withinMs <= longestHours * MS_PER_HOUR && most >= 1 && most <= MOST_IN_A_WINDOW;
      return isValid ? Object.freeze({ most, withinMs }) : undefined;
    });
    const valid = limits.filter((limit) => limit !== undefined);
    return valid.length === limits.length && valid.length <= MOST_WINDOWS ? Object.freeze(valid) : undefined;
  },
});

export function oneOf<const T extends string>(...words: readonly T[]): ValueKind<T> {
  return { rule: words.join(' or '), parse: (text) => words.find((word) => word === text) };
}

export const flag: ValueKind<boolean> = {
  rule: 'true or false',
  parse: (text) => (text === 'true' || text === 'false' ? text === 'true' : undefined),
};

/** Reads a text that matches a pattern. */
export function matching(rule: string, pattern: RegExp): ValueKind<string> {
  return { rule, parse: (text) => (pattern.test(text) ? text : undefined) };
}

/** Reads the address of a service, without trailing slashes, so that paths can be appended. */
export const webAddress: ValueKind<string> = {
  rule: 'an http or https address without user name, password, query or fragment, such as https://example.org',
  parse(text) {
    if (!URL.canParse(text) || /\s/.test(text)) return undefined;
    const url = new URL(text);
    const plain = url.username === '' && url.password === '' && !/[?#]/.test(text);
    if (!plain || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined;
    return url.href.replace(/(?<!\/)\/+$/, '');
  },
};

/** Reads an address of Tor's version 3 (rend-spec-v3): Base32 of a key, a checksum, a version. */
export const onionAddress: ValueKind<string> = {
  rule: 'the http address of an onion service, such as http://<56 letters and digits>.onion',
  parse(text) {
    const address = webAddress.parse(text);
    return /^https?:\/\/[a-z2-7]{56}\.onion(?::\d+)?$/.test(address ?? '') ? address : undefined;
  },
};

/** Reads what browsers send as `Origin`; `*` (null) stands for all. */
export const origins: ValueKind<readonly string[] | null> = {
  rule: '* or origins separated by commas, such as https://example.org,http://localhost:3000',
  parse(text) {
    if (text === '*') return null;
    const addresses = text.split(',').map((part) => webAddress.parse(part.trim()));
    const isList = addresses.every((address) => address !== undefined && new URL(address).origin === address);
    return isList ? (addresses as string[]) : undefined;
  },
};

const HOST_NAME = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/;

export const hostNames: ValueKind<readonly string[]> = {
  rule: 'host names separated by commas, such as ntfy.example.org,git.example.org',
  parse(text) {
    const names = text.split(',').map((name) => name.trim().toLowerCase());
    return names.every((name) => HOST_NAME.test(name)) ? names : undefined;
  },
};

/**
 * Reads the address of the commits' author. Commit headers contain it between `<` and `>`, where a
 * bracket or a line break would forge another header.
 */
export const commitEmail = matching(
  'an e-mail address such as anonymous@example.org, without spaces or angle brackets',
  /^[^\s<>@\p{Cc}]+@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/u,
);

/** An address at which a person is reached, as people write it and as a `mailto:` or `https:` URL. */
export interface Contact {
  readonly text: string;
  readonly url: string;
}

/** Reads a contact for security.txt: RFC 9116, 2.5.3, wants a URI, and `https` for a page. */
export const contact: ValueKind<Contact> = {
  rule: 'an e-mail address such as operator@example.org, or the https address of a page',
  parse(text) {
    if (commitEmail.parse(text) !== undefined) {
      const [name = '', server = ''] = text.split('@');
      return Object.freeze({ text, url: `mailto:${encodeURIComponent(name)}@${server}` });
    }
    const url = webAddress.parse(text);
    return url?.startsWith('https:') ? Object.freeze({ text: url, url }) : undefined;
  },
};

/** Reads a secret that is sent in a header: anything but visible ASCII is a copying mistake. */
export const headerSecret = matching('printable ASCII without spaces or line breaks', /^[\x21-\x7e]+$/);

/** Reads the secret of a webhook: a short one could be guessed from what was signed with it. */
export const webhookSecret = matching(
  'at least 20 characters of printable ASCII without spaces, such as the output of `openssl rand -hex 32`',
  /^[\x21-\x7e]{20,}$/,
);

/** Reads the key that signs commits. */
export const openSshKey: ValueKind<SigningKey> = {
  rule: "the text of an Ed25519 key without a passphrase, as `ssh-keygen -t ed25519 -N '' -f key` writes it into the file key",
  ...keyKind(readSigningKey),
};

/**
 * Makes the reader for a kind of private keys.
 * @param read throws UnusableKey.
 */
export function keyKind<T extends object>(read: (text: string) => T): Omit<ValueKind<T>, 'rule'> {
  return {
    parse: (text) => {
      const key = keyOrFault(read, text);
      return typeof key === 'string' ? undefined : key;
    },
    faultIn: (text) => keyOrFault(read, text) as string,
  };
}

/** Gives the key, or a sentence that says why it is none. */
function keyOrFault<T extends object>(read: (text: string) => T, text: string): T | string {
  try {
    return read(text);
  } catch (error) {
    if (error instanceof UnusableKey) return error.message;
    throw error;
  }
}

/** @param host a name or an address; one of IPv6 may have brackets. */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|\[?::1\]?|127\.[\d.]+)$/.test(host);
}

/** Writes limits for people: `60 in 1m and 240 in 1h`. */
export function limitText(limits: readonly Limit[]): string {
  return limits.map(({ most, withinMs }) => `${most} in ${spanText(withinMs)}`).join(' and ');
}

function spanText(ms: number): string {
  const units = { h: MS_PER_HOUR, m: MS_PER_MINUTE, s: MS_PER_SECOND, ms: 1 };
  const [name, size] = Object.entries(units).find(([, unit]) => ms % unit === 0) as [string, number];
  return `${ms / size}${name}`;
}
