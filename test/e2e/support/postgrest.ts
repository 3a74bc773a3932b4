/**
 * A hosted database as the service meets it: PostgreSQL (PGlite) with the roles and the generous
 * default grants of a Supabase project and docs/hosted-database.sql in it, behind the part of
 * PostgREST's HTTP interface that the service uses. Every request is one transaction under the role
 * of its key, and PostgreSQL itself writes the JSON.
 */
import { readFile } from 'node:fs/promises';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';

const SCHEMA = join(import.meta.dirname, '../../../docs/hosted-database.sql');
const SUPABASE = `
  create role anon nologin;
  create role authenticated nologin;
  create role service_role nologin bypassrls;
  grant usage on schema public to anon, authenticated, service_role;
  alter default privileges in schema public grant all on tables to anon, authenticated, service_role;
  alter default privileges in schema public grant all on functions to anon, authenticated, service_role;
  alter default privileges in schema public grant all on sequences to anon, authenticated, service_role;
`;

export const PUBLIC_KEY = 'sb_publishable_test';
export const SECRET_KEY = 'sb_secret_test';
const ROLES: Readonly<Record<string, string>> = { [PUBLIC_KEY]: 'anon', [SECRET_KEY]: 'service_role' };

/**
 * PGlite computes in this process, for seconds on a busy machine: a connection would end before a
 * request on it is seen, and the request would fail.
 */
const KEEP_ALIVE_MS = 120_000;

/**
 * `refuse`: no connection; `stall`: headers, and then nothing; `html`: the answer of something
 * else; `redirect`: to an address that answers.
 */
export type Trouble = 'refuse' | 'stall' | 'html' | 'redirect';

export class HostedDatabase {
  readonly pg: PGlite;
  trouble: Trouble | null = null;
  /** All that came in: method, address, headers and body of every request. */
  readonly requests: string[] = [];
  readonly #server: Server;

  private constructor(pg: PGlite) {
    this.pg = pg;
    this.#server = createServer((request, response) => void this.#serve(request, response));
    this.#server.keepAliveTimeout = KEEP_ALIVE_MS;
  }

  /** @param scripts in docs/, or of tests, that an operator has run. */
  static async start(scripts: readonly string[] = [SCHEMA]): Promise<HostedDatabase> {
    const pg = await PGlite.create();
    await pg.exec(SUPABASE);
    for (const script of scripts) await pg.exec(await readFile(script, 'utf8'));
    const database = new HostedDatabase(pg);
    await new Promise<void>((resolve) => {
      database.#server.listen(0, '127.0.0.1', resolve);
    });
    return database;
  }

  /** As a project's dashboard shows it. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async empty(): Promise<void> {
    await this.pg
      .exec(`truncate public.pull_requests, public.repository_totals, public.karma restart identity;
      update public.totals set pull_requests = 0, last_created_at = null;`);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    await this.pg.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    this.requests.push([request.method, request.url, ...request.rawHeaders, body].join('\n'));
    if (this.trouble === 'refuse') return void response.destroy();
    if (this.trouble === 'html') return void response.writeHead(502).end('<h1>Bad gateway</h1>');
    if (this.trouble === 'redirect' && !request.url?.includes('moved')) {
      return void response
        .writeHead(307, { Location: `${request.url}${request.url?.includes('?') ? '&' : '?'}moved=` })
        .end();
    }
    if (this.trouble === 'stall') {
      response.writeHead(200, { 'Content-Type': 'application/json' }).write('[');
      return;
    }
    const answer = await this.#answer(request, body);
    response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(answer.body);
  }

  async #answer(request: IncomingMessage, body: string): Promise<{ status: number; body?: string }> {
    const { apikey, authorization } = request.headers;
    const role = ROLES[String(apikey)];
    if (role === undefined || authorization !== `Bearer ${String(apikey)}`) {
      return { status: 401, body: JSON.stringify({ message: 'Invalid API key' }) };
    }
    const { pathname, searchParams } = new URL(request.url ?? '', this.url);
    const [, target = ''] = /^\/rest\/v1\/(.+)$/.exec(pathname) ?? [];
    const args = request.method === 'POST' ? (JSON.parse(body) as Record<string, unknown>) : {};
    try {
      const query = request.method === 'POST' ? callOf(target, args) : selectOf(target, searchParams);
      const result = await this.pg.transaction(async (transaction) => {
        await transaction.query(`set local role ${role}`);
        return transaction.query<{ json: string | null }>(query.sql, query.values);
      });
      const json = result.rows[0]?.json;
      return json === '""' ? { status: 204 } : { status: 200, body: json ?? 'null' };
    } catch (error) {
      const { code = 'XX000', message } = error as Error & { code?: string };
      return {
        status: statusOf(code, role),
        body: JSON.stringify({ code, message, details: null, hint: null }),
      };
    }
  }
}

interface Query {
  readonly sql: string;
  readonly values: unknown[];
}

function identifier(name: string): string {
  if (!/^[a-z_]+$/.test(name)) throw new Error(`no name: ${name}`);
  return name;
}

/** `rpc/name` with named arguments. What returns void casts to the empty text. */
function callOf(target: string, args: Record<string, unknown>): Query {
  const names = Object.keys(args).map((name, index) => `${identifier(name)} => $${index + 1}`);
  const call = `public.${identifier(target.replace(/^rpc\//, ''))}(${names.join(', ')})`;
  return { sql: `select to_json(${call})::text as json`, values: Object.values(args) };
}

/** `select=a,b` or `select=*`, `column=eq.value`, `order=a.desc,b.desc`, `limit=n`. */
function selectOf(target: string, parameters: URLSearchParams): Query {
  const values: unknown[] = [];
  const { select = '', order, limit, ...filters } = Object.fromEntries(parameters);
  const columns = select === '*' ? '*' : select.split(',').map(identifier).join(', ');
  const conditions = Object.entries(filters).map(([column, filter]) => {
    const [, value] = /^eq\.(.*)$/.exec(filter) ?? [];
    values.push(value);
    return `${identifier(column)} = $${values.length}`;
  });
  const where = conditions.length > 0 ? ` where ${conditions.join(' and ')}` : '';
  const sorted = order?.split(',').map((term) => term.split('.').map(identifier).join(' '));
  const rows =
    `select ${columns} from public.${identifier(target)}${where}` +
    (sorted ? ` order by ${sorted.join(', ')}` : '') +
    (limit === undefined ? '' : ` limit ${Number(limit)}`);
  return { sql: `select coalesce(json_agg(answer), '[]')::text as json from (${rows}) answer`, values };
}

/** docs.postgrest.org, "Errors": HTTP status codes. */
function statusOf(code: string, role: string): number {
  if (code === '42501') return role === 'anon' ? 401 : 403;
  if (code === '23505') return 409;
  if (code === '42883' || code === '42P01') return 404;
  return code.startsWith('XX') ? 500 : 400;
}
