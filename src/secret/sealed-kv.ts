/**
 * Encrypts what the service keeps in KV, but for the keys of delayed pushes, so that names and
 * values say nothing without its secret. Whoever has the account or the disk can list the expiry of
 * each entry, which would tell when it was written, so the entries of a day expire together. The
 * cipher is AES-256-GCM. Each name has its own key, and each value begins with a random
 * initialisation vector. Values are padded, because the length of a history is enough to recognise
 * it.
 */
import { keyedHash } from './keyed-hash.ts';

export type SealedStore = Pick<SealedKv, 'get' | 'put'>;

const DAY_S = 24 * 60 * 60;
const ALGORITHM = 'AES-GCM';
const IV_BYTES = 12;
const LENGTH_BYTES = 4;
/** Minimum size of a padded value. Longer ones have twice as much, and so on. */
const LEAST_BYTES = 1024;

export class SealedKv {
  readonly #kv: KVNamespace;
  readonly #secret: () => Promise<string>;

  constructor(kv: KVNamespace, secret: () => Promise<string>) {
    this.#kv = kv;
    this.#secret = secret;
  }

  /**
   * Reads an entry. Rejects if KV does not answer.
   * @returns null if there is none, or this secret does not open it.
   */
  async get(name: string): Promise<Uint8Array<ArrayBuffer> | null> {
    const secret = await this.#secret();
    const entry = await this.#kv.get(keyedHash(secret, 'kv', name), 'arrayBuffer');
    if (entry === null) return null;
    const key = await keyOf(secret, name);
    const [iv, sealed] = [entry.slice(0, IV_BYTES), entry.slice(IV_BYTES)];
    const filled = await crypto.subtle.decrypt({ name: ALGORITHM, iv }, key, sealed).catch(() => null);
    return filled === null ? null : unpadded(filled);
  }

  /**
   * Stores an entry.
   * @param lifeMs is how long it is useful. It stays until the end of that day (UTC).
   */
  async put(name: string, value: Uint8Array, lifeMs: number): Promise<void> {
    const secret = await this.#secret();
    const key = await keyOf(secret, name);
    const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
    const sealed = await crypto.subtle.encrypt({ name: ALGORITHM, iv }, key, padded(value));
    const entry = await new Blob([iv, sealed]).arrayBuffer();
    const expiration = endOfDay(Date.now() + lifeMs);
    await this.#kv.put(keyedHash(secret, 'kv', name), entry, { expiration });
  }
}

/**
 * Returns the end of a moment's day (UTC), in seconds since 1970.
 * @param at is in milliseconds since 1970.
 */
export function endOfDay(at: number): number {
  return Math.ceil(at / 1000 / DAY_S) * DAY_S;
}

function keyOf(secret: string, name: string): Promise<CryptoKey> {
  const bytes = new Uint8Array(Buffer.from(keyedHash(secret, 'kv-value', name), 'hex'));
  return crypto.subtle.importKey('raw', bytes, ALGORITHM, false, ['encrypt', 'decrypt']);
}

/** Encodes the length of a value, the value, and zeros. */
function padded(value: Uint8Array): Uint8Array<ArrayBuffer> {
  let length = LEAST_BYTES;
  while (length < LENGTH_BYTES + value.byteLength) length *= 2;
  const filled = new Uint8Array(length);
  new DataView(filled.buffer).setUint32(0, value.byteLength);
  filled.set(value, LENGTH_BYTES);
  return filled;
}

function unpadded(filled: ArrayBuffer): Uint8Array<ArrayBuffer> {
  return new Uint8Array(filled, LENGTH_BYTES, new DataView(filled).getUint32(0));
}
