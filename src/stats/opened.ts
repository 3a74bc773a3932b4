/**
 * Opens the ledger, and adds what statistics know of a pull request from the moment when it is open: its entry there, and
 * its pr_hash in the list of pages. Recording either again changes nothing.
 */
import { recordName } from '../config/hosts.ts';
import type { Config } from '../config.ts';
import type { Env } from '../env.ts';
import type { Http } from '../outgoing/http-client.ts';
import { HostedLedger } from './hosted-ledger.ts';
import { D1Ledger, type Ledger, type LedgerRepository, pullRequestStatement } from './ledger.ts';
import { hashStatements, idStatement } from './recorded-hashes.ts';

/** The hosted database if there is one, and D1 otherwise. */
export function openLedger(
  env: Pick<Env, 'DB'>,
  { hostedDatabase }: Pick<Config, 'hostedDatabase'>,
  http: Http,
): Ledger {
  return hostedDatabase === null ? new D1Ledger(env.DB) : new HostedLedger(hostedDatabase, http);
}

export interface OpenedPullRequest extends LedgerRepository {
  readonly prHash: string;
  readonly url: string;
  /** As `PullRequest` of the host has it. */
  readonly id?: number;
  /** Milliseconds since 1970. */
  readonly openedAt: number;
  /** What it was opened with (recorded-hashes.ts); absent: nobody knows any more. */
  readonly works?: readonly string[];
}

/** In one call, where both are in D1. Rejects with the error of the database. */
export async function recordOpened(
  env: Pick<Env, 'DB'>,
  config: Pick<Config, 'hostedDatabase'>,
  http: Http,
  { prHash, host, owner, repo, url, id, openedAt, works }: OpenedPullRequest,
): Promise<void> {
  const repository = recordName({ key: host }, { owner, name: repo });
  const entry = { host, owner, repo, prUrl: url, createdAt: new Date(openedAt).toISOString() };
  const page = [
    ...hashStatements(env.DB, prHash, repository, openedAt, works),
    ...(id === undefined ? [] : [idStatement(env.DB, prHash, host, id)]),
  ];
  if (config.hostedDatabase === null) {
    await env.DB.batch([...page, pullRequestStatement(env.DB, entry)]);
  } else {
    await Promise.all([env.DB.batch(page), openLedger(env, config, http).recordPullRequest(entry)]);
  }
}
