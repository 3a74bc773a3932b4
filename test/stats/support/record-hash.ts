/** Adds a hash to the list, as a pull request's object does. */
import { hashStatements } from '../../../src/stats/recorded-hashes.ts';

export async function recordHash(...added: Parameters<typeof hashStatements>): Promise<void> {
  await added[0].batch(hashStatements(...added));
}
