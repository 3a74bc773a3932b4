/**
 * The ledger in a hosted PostgreSQL behind PostgREST, such as Supabase; docs/hosted-database.md has
 * its schema. Statistics are read from tables, with one indexed query each. Writes and karma go
 * through functions, because the key is public: it must not change a table, or list all karma. A
 * request is tried once: writers try again later, and statistics have the last known value.
 * Proved by test/e2e/host/hosted-database.test.ts.
 */
import { PostgrestClient } from '@supabase/postgrest-js';
import * as z from 'zod';
import { withDeadline } from '../isolate/within.ts';
import type { Http } from '../outgoing/http-client.ts';
import { wholeResponse } from '../outgoing/response.ts';
import { countedOwner, type Ledger } from './ledger.ts';
import { MAIN_HOST } from '../config/hosts.ts';

/** How long a whole answer may take. */
const TIMEOUT_MS = 5_000;
/** Far more than an answer needs: at most ten rows are asked for. */
const MAX_RESPONSE_BYTES = 1024 * 1024;

/** Reads PostgreSQL's `2026-11-21T10:00:00+00:00` as `toISOString` would write it. */
const timestamp = z.iso.datetime({ offset: true }).transform((text) => new Date(text).toISOString());

const totalsRow = z.object({ pull_requests: z.int(), last_created_at: timestamp.nullable() });
const countRow = z.object({ pull_requests: z.int() });
const text = z.string();
const pullRequestRow = z
  .object({ id: z.int(), host: text, owner: text, repo: text, pr_url: text, created_at: timestamp })
  .transform(({ pr_url: prUrl, created_at: createdAt, ...row }) => ({ ...row, prUrl, createdAt }));

/** Where the database is, and its public key. */
interface HostedDatabase {
  readonly url: string;
  readonly key: string;
}

function openDatabase({ url, key }: HostedDatabase, http: Http): PostgrestClient {
  // An address without a path gets that of PostgREST at Supabase.
  return new PostgrestClient(new URL(url).pathname === '/' ? `${url}/rest/v1` : url, {
    headers: { apikey: key, Authorization: `Bearer ${key}` },
    // The client's own timeout ends with the headers, but a body could stall, too. Redirects are
    // not followed, because they would take the key elsewhere.
    fetch: (input, init) =>
      withDeadline(TIMEOUT_MS, async (signal) => {
        const response = await http.fetch(input, { ...init, signal, redirect: 'manual' });
        return wholeResponse(response, MAX_RESPONSE_BYTES);
      }),
    retry: false,
  });
}

export function hostedLedger(database: HostedDatabase, http: Http): Ledger {
  const db = openDatabase(database, http);
  return {
    async recordPullRequest({ host, owner, repo, prUrl, createdAt }) {
      const entry = {
        owner,
        repo,
        pr_url: prUrl,
        created_at: createdAt,
        ...(host !== MAIN_HOST && { host }),
      };
      await db.rpc('record_pull_request', entry).throwOnError();
    },
    async totals() {
      const question = db.from('totals').select('pull_requests,last_created_at').limit(1);
      const [row] = z.array(totalsRow).parse((await question.throwOnError()).data);
      return { pullRequests: row?.pull_requests ?? 0, lastCreatedAt: row?.last_created_at ?? null };
    },
    async recentPullRequests(limit) {
      const newest = { ascending: false };
      const question = db.from('pull_requests').select('id,host,owner,repo,pr_url,created_at');
      const sorted = question.order('created_at', newest).order('id', newest).limit(limit);
      return z.array(pullRequestRow).parse((await sorted.throwOnError()).data);
    },
    async pullRequestCount(repository) {
      const owner = countedOwner(repository).toLowerCase();
      const question = db.from('repository_totals').select('pull_requests').eq('owner', owner);
      const one = question.eq('repo', repository.repo.toLowerCase()).limit(1);
      return z.array(countRow).parse((await one.throwOnError()).data)[0]?.pull_requests ?? 0;
    },
    async karma(hash) {
      const { data } = await db.rpc('karma_of', { hash }).throwOnError();
      return z.int().nullable().parse(data);
    },
    async setKarma(hash, karma) {
      await db.rpc('set_karma', { hash, karma }).throwOnError();
    },
  };
}
