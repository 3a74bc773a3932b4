/**
 * Connects `LastKnown` with the places of this deployment: the data centre's cache, KV, and the isolate's memory.
 */
import { waitUntil } from 'cloudflare:workers';
import type { Env } from '../env.ts';
import type { Held, LastKnownPlaces } from './last-known.ts';
import { Recent } from './recent.ts';
import { serviceSecret } from '../secret/open-secret.ts';
import { SealedKv } from '../secret/sealed-kv.ts';

const memory = new Recent<Held>({
  most: 4 * 1024 * 1024,
  weightOf: ({ value }) => 500 + 2 * (JSON.stringify(value)?.length ?? 0),
});

/** @param onFailure hears why a source did not answer. */
export function lastKnownPlaces(
  env: Pick<Env, 'LAST_KNOWN' | 'SERVICE_SECRET' | 'LOCATION_HINT'>,
  { serviceUrl, identitySecret }: { readonly serviceUrl: string; readonly identitySecret: string | null },
  onFailure: (error: unknown) => void,
): LastKnownPlaces {
  const cacheBase = `${serviceUrl}/.last-known`;
  const kv = new SealedKv(env.LAST_KNOWN, () => serviceSecret(env, identitySecret));
  return { cache: caches.default, cacheBase, kv, memory, later: waitUntil, onFailure };
}
