/** The key of src/identity/keyed-hash.ts: the operator's, or the service's own. */
import type { Env } from '../env.ts';

/** Asked for once in an isolate's life: it never changes. */
const known = new WeakMap<Env['SERVICE_SECRET'], Promise<string>>();

/** @param given the operator's `IDENTITY_SECRET`. */
export async function serviceSecret(env: Pick<Env, 'SERVICE_SECRET'>, given: string | null): Promise<string> {
  if (given !== null) return given;
  const objects = env.SERVICE_SECRET;
  const asked = known.get(objects) ?? objects.get(objects.idFromName('secret')).read();
  known.set(objects, Promise.resolve(asked));
  try {
    return await asked;
  } catch (error) {
    known.delete(objects);
    throw error;
  }
}
