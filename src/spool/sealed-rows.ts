/**
 * The encrypted rows of one spool: AES-256-GCM with a key that is only in this isolate's memory and
 * belongs to this attempt alone. So nobody can read the rows once the push is over, even if its
 * process died before it removed them. The key of a delayed push is handed out once, to be stored
 * where it can be removed without a trace. Each number is written once, so no initialisation vector
 * is used twice with a key. The attempt's name and the number are authenticated.
 * Proved by test/spool/spool.test.ts.
 */
import { utf8 } from '../git/bytes.ts';
import { busy } from '../isolate/waiting.ts';
import { within } from '../isolate/within.ts';

/** The storage of the rows: the object `Spool`. */
export interface RowStore {
  write(attempt: string, number: number, sealed: ArrayBuffer): Promise<void>;
  /** Returns null if there is no such row. */
  read(attempt: string, number: number): Promise<ArrayBuffer | null>;
  /**
   * Removes some rows of an attempt.
   * @returns whether there are more.
   */
  remove(attempt: string): Promise<boolean>;
  /**
   * Keeps the rows of an attempt for longer.
   * @param until is in milliseconds since 1970.
   */
  keep(attempt: string, until: number): Promise<void>;
}

/**
 * Opens the storage. It is called before each request, because a stub does not outlive its object's
 * death.
 */
export type OpenRowStore = (attempt: string) => RowStore;

/** The name of a delayed push's rows, and their key. */
export interface SealedAttempt {
  readonly attempt: string;
  /** Base64. */
  readonly key: string;
}

/** Says that a row was changed, or that one that was kept is gone. */
export class LostRowError extends Error {
  override readonly name = 'LostRowError';
}

const ALGORITHM = 'AES-GCM';
/** Maximum time for storing or reading a row. */
const USUAL_PATIENCE_MS = 20_000;

export class SealedRows {
  /** The name of the attempt, which is random so that it tells nothing. */
  #attempt = Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('hex');
  readonly #open: OpenRowStore;
  readonly #patienceMs: number;
  #key: CryptoKey | null = null;
  #isKept = false;

  constructor(open: OpenRowStore, patienceMs = USUAL_PATIENCE_MS) {
    this.#open = open;
    this.#patienceMs = patienceMs;
  }

  /** Opens rows that `keep` has kept. */
  static async reopen({ attempt, key }: SealedAttempt, open: OpenRowStore): Promise<SealedRows> {
    const rows = new SealedRows(open);
    rows.#attempt = attempt;
    rows.#isKept = true;
    const keyBytes = Buffer.from(key, 'base64');
    rows.#key = await crypto.subtle.importKey('raw', keyBytes, ALGORITHM, false, ['decrypt']);
    return rows;
  }

  /**
   * Encrypts and stores a row.
   * @param row loses its buffer.
   * @throws HostError `busy` if the object fails.
   */
  async write(number: number, row: Uint8Array<ArrayBuffer>): Promise<void> {
    const algorithm = { name: ALGORITHM, length: 256 };
    this.#key ??= (await crypto.subtle.generateKey(algorithm, true, ['encrypt', 'decrypt'])) as CryptoKey;
    const sealed = await crypto.subtle.encrypt(this.#parameters(number), this.#key, row);
    // Free the memory now, because the garbage collector is slow.
    row.buffer.transfer(0);
    await this.#ask((store) => store.write(this.#attempt, number, sealed));
    sealed.transfer(0);
  }

  /**
   * Reads and decrypts a row.
   * @throws HostError `busy` if the object fails.
   * @throws LostRowError if a kept row is gone, or a row was changed.
   */
  async read(number: number): Promise<Uint8Array<ArrayBuffer>> {
    const sealed = await this.#ask((store) => store.read(this.#attempt, number));
    // The object of a push that is under way has died. The person can push again.
    if (this.#key === null || (sealed === null && !this.#isKept)) throw busy();
    if (sealed === null) throw new LostRowError('a row of the spool is gone');
    try {
      return new Uint8Array(await crypto.subtle.decrypt(this.#parameters(number), this.#key, sealed));
    } catch (cause) {
      throw new LostRowError('a row of the spool was changed', { cause });
    } finally {
      sealed.transfer(0);
    }
  }

  /**
   * Keeps the rows for whoever has the returned key, and forgets that key.
   * @param until is in milliseconds since 1970.
   * @throws HostError `busy`
   */
  async keep(until: number): Promise<SealedAttempt> {
    const key = (await crypto.subtle.exportKey('raw', this.#key as CryptoKey)) as ArrayBuffer;
    await this.#ask((store) => store.keep(this.#attempt, until));
    // From now on, this request must not remove them.
    this.#key = null;
    return { attempt: this.#attempt, key: Buffer.from(key).toString('base64') };
  }

  /**
   * Forgets the key, and removes the rows unless they are kept.
   * @throws HostError `busy` if the object fails. Its alarm removes the rows later.
   */
  async remove(): Promise<void> {
    if (this.#key === null) return;
    this.#key = null;
    while (await this.#ask((store) => store.remove(this.#attempt)));
  }

  async #ask<T>(question: (store: RowStore) => Promise<T>): Promise<T> {
    try {
      return await within(this.#patienceMs, question(this.#open(this.#attempt)));
    } catch (cause) {
      throw busy(cause);
    }
  }

  #parameters(number: number) {
    const iv = new Uint8Array(12);
    new DataView(iv.buffer).setUint32(0, number);
    return { name: ALGORITHM, iv, additionalData: utf8(`${this.#attempt} ${number}`) };
  }
}
