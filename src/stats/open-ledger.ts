/** Opens the ledger: the hosted database if there is one, and D1 otherwise. */
import type { Config } from '../config.ts';
import type { Env } from '../env.ts';
import type { Http } from '../outgoing/http-client.ts';
import { D1Ledger } from './d1-ledger.ts';
import { HostedLedger } from './hosted-ledger.ts';
import type { Ledger } from './ledger.ts';

export function openLedger(
  env: Pick<Env, 'DB'>,
  { hostedDatabase }: Pick<Config, 'hostedDatabase'>,
  http: Http,
): Ledger {
  return hostedDatabase === null ? new D1Ledger(env.DB) : new HostedLedger(hostedDatabase, http);
}
