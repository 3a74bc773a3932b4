/**
 * Caches the last answers of the ledger or another slow source: for questions that are asked far
 * more often than their answers change, and for times when the source fails. The isolate's memory
 * and the data centre's cache avoid asking for a while. KV has the last known value for all data
 * centres, for when the source fails. It is written only when a value has changed, so that a badge
 * in a popular README costs no writes. Reading costs nothing while the value is fresh in memory,
 * and one look-up while it is fresh in the cache. KV is read when the source fails or is slow, or
 * its answer is new to this isolate.
 */
import { waitUntil } from 'cloudflare:workers';
import type { Env } from '../env.ts';
import { keyedHash } from '../secret/keyed-hash.ts';
import { serviceSecret } from '../secret/open-secret.ts';
import { SealedKv, type SealedStore } from '../secret/sealed-kv.ts';
import { utf8 } from '../git/bytes.ts';
import { isAhead } from './clock.ts';
import { Recent } from './recent.ts';
import { succeeds, within } from './within.ts';

/** A question to the source. Values and `nothing` must be JSON. */
export interface Question<T> {
  /** The name of the question with its arguments. A value of another shape needs another name. */
  readonly name: string;
  /**
   * Time for which an answer is fresh, and not asked for again. 0 means that it is always asked
   * for, and only kept for when the source fails.
   */
  readonly freshMs: number;
  /**
   * The answer of an empty source. It is stored in KV only in place of another answer. Otherwise
   * anyone could fill KV with made-up names.
   */
  readonly nothing: T;
  /**
   * Time after which a missing answer counts as a failure, because someone is waiting, and the last
   * known value is good enough. By default, it is 3 s.
   */
  readonly patienceMs?: number;
  /**
   * Time to wait for an answer if no value is in memory. One that is there is returned at once, and
   * the source asked in the background. By default, it waits for the source.
   */
  readonly atOnceMs?: number;
  ask(): Promise<T>;
}

export interface LastKnownPlaces {
  readonly cache: Pick<Cache, 'match' | 'put' | 'delete'>;
  /**
   * Returns the address of a cache entry, which nobody requests. It tells nothing, because a
   * platform shows the addresses in its cache, and a name contains a repository.
   */
  readonly cacheAddress: (name: string) => Promise<string>;
  readonly kv: SealedStore;
  readonly memory: Recent<Held>;
  /** Runs work for which the answer does not wait. */
  readonly later: (work: Promise<unknown>) => void;
  readonly onFailure: (error: unknown) => void;
}

interface Held {
  readonly value: unknown;
  /** The time from which it is asked for again, in milliseconds since 1970. */
  readonly freshUntil: number;
}

const USUAL_PATIENCE_MS = 3_000;
const KV_PATIENCE_MS = 2_000;
/** Time before a source that has failed is asked again, unless it is asked every time. */
const RETRY_MS = 5_000;
/**
 * Life of an entry in KV from its last change, so that it does not keep for ever what someone asked
 * for once. Asking does not extend it: once it is over, an isolate to which the answer is new
 * writes it again.
 */
const KV_LIFE_MS = 30 * 24 * 60 * 60 * 1000;

const answers = new Recent<Held>({
  most: 4 * 1024 * 1024,
  weightOf: ({ value }) => 500 + 2 * (JSON.stringify(value)?.length ?? 0),
});

/**
 * Opens the caches of this deployment.
 * @param onFailure gets the reason why a source did not answer.
 */
export function openLastKnown(
  env: Pick<Env, 'LAST_KNOWN' | 'SERVICE_SECRET' | 'LOCATION_HINT'>,
  { serviceUrl, identitySecret }: { readonly serviceUrl: string; readonly identitySecret: string | null },
  onFailure: (error: unknown) => void,
): LastKnown {
  const secret = () => serviceSecret(env, identitySecret);
  const cacheAddress = async (name: string) =>
    `${serviceUrl}/.last-known/${keyedHash(await secret(), 'cache', name)}`;
  const kv = new SealedKv(env.LAST_KNOWN, secret);
  const places = { cache: caches.default, cacheAddress, kv, memory: answers, later: waitUntil };
  return new LastKnown({ ...places, onFailure });
}

export class LastKnown {
  readonly #places: LastKnownPlaces;
  /** The version, which `forget` raises. Answers that were requested before are not kept. */
  #version = 0;

  constructor(places: LastKnownPlaces) {
    this.#places = places;
  }

  /**
   * Returns a fresh answer, or the last known one if the source fails or takes too long, or
   * undefined if there is none.
   */
  async read<T>(question: Question<T>): Promise<T | undefined> {
    const { memory, later } = this.#places;
    const { name, freshMs, atOnceMs } = question;
    const held = memory.get(name);
    const version = this.#version;
    const cached = freshMs === 0 ? undefined : await this.#fresh(name, held, Math.max(freshMs, RETRY_MS));
    if (cached !== undefined) return cached.value as T | undefined;
    // Further readers are answered at once meanwhile.
    if (atOnceMs !== undefined && held?.value !== undefined)
      memory.set(name, { value: held.value, freshUntil: Date.now() + RETRY_MS });
    const asking = this.#ask(question, held, version);
    if (atOnceMs === undefined) return asking;
    later(asking);
    if (held?.value !== undefined) return held.value as T;
    const kept = this.#kept(name) as Promise<T | undefined>;
    const first = Promise.race([
      asking.then((value) => (value === undefined ? kept : value)),
      kept.then((value) => (value === undefined ? asking : value)),
    ]);
    // What does not come in time, or fails, is not known.
    return within(atOnceMs, first).catch(() => undefined);
  }

  /** Asks the source. Never rejects. */
  async #ask<T>(question: Question<T>, held: Held | null, version: number): Promise<T | undefined> {
    const { memory, later, onFailure } = this.#places;
    const { name, freshMs, patienceMs = USUAL_PATIENCE_MS } = question;
    try {
      const value = await within(patienceMs, question.ask());
      if (version !== this.#version) return value;
      const answer = { value, freshUntil: Date.now() + freshMs };
      memory.set(name, answer);
      later(this.#keep(question, answer, held));
      return value;
    } catch (error) {
      onFailure(error);
      const value = held?.value === undefined ? await this.#kept(name) : held.value;
      memory.set(name, { value, freshUntil: Date.now() + RETRY_MS });
      return value as T | undefined;
    }
  }

  /** Forgets a value, so that it is asked for again, even if it has just failed. Never rejects. */
  async forget(name: string): Promise<void> {
    this.#version += 1;
    this.#places.memory.delete(name);
    const { cache, cacheAddress } = this.#places;
    await succeeds(cacheAddress(name).then((address) => cache.delete(address)));
  }

  /**
   * Returns a fresh answer of the isolate's memory or the data centre's cache. A cache that fails
   * counts as empty.
   */
  async #fresh(name: string, held: Held | null, longestMs: number): Promise<Held | undefined> {
    if (held !== null && isAhead(held.freshUntil, longestMs, Date.now())) return held;
    try {
      const { cache, cacheAddress } = this.#places;
      const response = await cache.match(await cacheAddress(name));
      const cached = await response?.json<Held>();
      if (cached === undefined || !isAhead(cached.freshUntil, longestMs, Date.now())) return undefined;
      this.#places.memory.set(name, cached);
      return cached;
    } catch {
      return undefined;
    }
  }

  /** Returns the last known value in KV. If KV fails, it counts as unknown. */
  async #kept(name: string): Promise<unknown> {
    try {
      const bytes = await within(KV_PATIENCE_MS, this.#places.kv.get(name));
      return bytes === null ? undefined : JSON.parse(new TextDecoder().decode(bytes));
    } catch {
      return undefined;
    }
  }

  /**
   * Stores an answer. If that fails, the source is asked again sooner.
   * @param before is what was in memory. KV is asked only if the answer differs from it.
   */
  #keep<T>({ name, freshMs, nothing }: Question<T>, answer: Held, before: Held | null): Promise<unknown> {
    const { cache, cacheAddress, kv } = this.#places;
    const text = JSON.stringify(answer.value);
    const inCache = async (): Promise<void> => {
      const headers = { 'Cache-Control': `max-age=${Math.ceil(freshMs / 1000)}` };
      await cache.put(await cacheAddress(name), Response.json(answer, { headers }));
    };
    const inKv = async (): Promise<void> => {
      const kept = await this.#kept(name);
      const isKept = text === JSON.stringify(kept === undefined ? nothing : kept);
      if (!isKept) await kv.put(name, utf8(text), KV_LIFE_MS);
    };
    const isNews = before === null || JSON.stringify(before.value) !== text;
    return Promise.allSettled([freshMs > 0 ? inCache() : undefined, isNews ? inKv() : undefined]);
  }
}
