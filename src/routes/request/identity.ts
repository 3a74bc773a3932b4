/** The object of a pseudonym, and whether it is worth asking. */
import type { Context } from 'hono';
import type { Identity } from '../../durable/identity.ts';
import type { AppEnv } from '../../env.ts';
import { isReported } from '../../stats/reported-pseudonyms.ts';

export function identityOf(c: Context<AppEnv>, hash: string): DurableObjectStub<Identity> {
  return c.env.IDENTITIES.get(c.env.IDENTITIES.idFromName(hash));
}

/** False: it has none for certain. Asking its object would make a database for it. */
export async function mayHaveReports(c: Context<AppEnv>, hash: string): Promise<boolean> {
  return isReported(c.env.DB, hash).catch((error: unknown) => {
    c.var.logger.warn('the list of reported pseudonyms does not answer', { error });
    return true;
  });
}
