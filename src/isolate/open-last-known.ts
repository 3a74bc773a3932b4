/**
 * Connects `LastKnown` with the places of this deployment: the data centre's cache, KV, and the isolate's memory.
 */
import { waitUntil } from 'cloudflare:workers';
import type { Env } from '../env.ts';
import type { Held, LastKnownPlaces } from './last-known.ts';
import { Recent } from './recent.ts';

const memory = new Recent<Held>({ most: 3_000 });

/** @param onFailure hears why a source did not answer. */
export function lastKnownPlaces(
  { LAST_KNOWN }: Pick<Env, 'LAST_KNOWN'>,
  { serviceUrl }: { readonly serviceUrl: string },
  onFailure: (error: unknown) => void,
): LastKnownPlaces {
  const cacheBase = `${serviceUrl}/.last-known`;
  return { cache: caches.default, cacheBase, kv: LAST_KNOWN, memory, later: waitUntil, onFailure };
}
