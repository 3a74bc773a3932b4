/** The key of src/identity/keyed-hash.ts: the operator's, or the service's own. */
import type { Env } from '../env.ts';

/** It never changes. Not the promise of it: that belongs to one request, and never settles when its client leaves. */
const known = new WeakMap<Env['SERVICE_SECRET'], string>();

/** @param given the operator's `IDENTITY_SECRET`. */
export async function serviceSecret(env: Pick<Env, 'SERVICE_SECRET'>, given: string | null): Promise<string> {
  if (given !== null) return given;
  const objects = env.SERVICE_SECRET;
  const secret = known.get(objects) ?? (await objects.get(objects.idFromName('secret')).read());
  known.set(objects, secret);
  return secret;
}
