/** Whether the object of a pseudonym is worth asking. */
import type { Context } from 'hono';
import type { AppEnv } from '../../env.ts';
import { isListed } from '../../stats/listed-pseudonyms.ts';

/** False: it has no reports for certain. Asking its object would make a database for it. */
export async function mayHaveReports(c: Context<AppEnv>, hash: string): Promise<boolean> {
  return isListed(c.env.DB, hash).catch((error: unknown) => {
    c.var.logger.warn('the list of pseudonyms does not answer', { error });
    return true;
  });
}
