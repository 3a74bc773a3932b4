/** Chooses where the ledger is kept. */
import type { Env } from '../env.ts';
import { D1Ledger } from './d1-ledger.ts';
import type { Ledger } from './ledger.ts';

export function openLedger(env: Pick<Env, 'DB'>): Ledger {
  return new D1Ledger(env.DB);
}
