/** Finds the key of src/secret/keyed-hash.ts: the operator's, or else the service's own. */
import type { Env } from '../env.ts';
import { readFrom, secretOf } from '../objects.ts';

/**
 * The service's own secret, as a value. A promise would never settle once the client of the request
 * that created it disconnects.
 */
const known = new WeakMap<Env['SERVICE_SECRET'], string>();

/**
 * Returns the secret.
 * @param given is the operator's `IDENTITY_SECRET`.
 */
export async function serviceSecret(
  env: Pick<Env, 'SERVICE_SECRET' | 'LOCATION_HINT'>,
  given: string | null,
): Promise<string> {
  if (given !== null) return given;
  const secret = known.get(env.SERVICE_SECRET) ?? (await readFrom(() => secretOf(env).read()));
  known.set(env.SERVICE_SECRET, secret);
  return secret;
}
