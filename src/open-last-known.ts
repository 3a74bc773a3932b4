/**
 * Connects `LastKnown` with the places of this deployment: the data centre's cache, KV, and a memory of the isolate.
 */
import { waitUntil } from 'cloudflare:workers';
import type { Config } from './config.ts';
import type { Env } from './env.ts';
import type { LastKnownPlaces } from './last-known.ts';

/** @param memory one for the isolate. @param onFailure hears why a source did not answer. */
export function lastKnownPlaces(
  { LAST_KNOWN }: Pick<Env, 'LAST_KNOWN'>,
  { serviceUrl }: Pick<Config, 'serviceUrl'>,
  memory: LastKnownPlaces['memory'],
  onFailure: (error: unknown) => void,
): LastKnownPlaces {
  const cacheBase = `${serviceUrl}/.last-known`;
  return { cache: caches.default, cacheBase, kv: LAST_KNOWN, memory, later: waitUntil, onFailure };
}
