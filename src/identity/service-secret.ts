/** The key of src/identity/keyed-hash.ts: the operator's, or the service's own. */
import type { Env } from '../env.ts';

/**
 * Cached as a value, not as a promise: a promise belongs to the request that created it and never settles once that
 * client disconnects.
 */
const known = new WeakMap<Env['SERVICE_SECRET'], string>();

/** @param given the operator's `IDENTITY_SECRET`. */
export async function serviceSecret(env: Pick<Env, 'SERVICE_SECRET'>, given: string | null): Promise<string> {
  if (given !== null) return given;
  const objects = env.SERVICE_SECRET;
  const secret = known.get(objects) ?? (await objects.get(objects.idFromName('secret')).read());
  known.set(objects, secret);
  return secret;
}
