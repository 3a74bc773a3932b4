/**
 * Stands in for one account at Cloudflare's API, on loopback, for the real wrangler.
 *
 * It knows what `npm run deploy` makes wrangler call, as wrangler reads the answers. Anything else
 * is answered with 404 and kept in `unknown`:
 * - GET  /accounts, /memberships; /user, /user/tokens/verify after a refusal
 * - GET, POST /d1/database; GET /d1/database/<id or name>; POST /d1/database/<id>/query: SQL runs
 *   in SQLite, all or nothing
 * - GET, POST /storage/kv/namespaces; a title exists once (10014)
 * - GET  /workers/services/<name>, /workers/workers/<name>, /workers/subdomain
 * - PUT  /workers/scripts/<name>; POST …/versions, …/deployments, …/subdomain; PATCH
 *   …/script-settings; PUT …/schedules
 * - GET  /workers/scripts/<name>/deployments, …/secrets, …/settings; PUT …/secrets
 *
 * An upload is checked as Cloudflare does: resources that are bound must be there, a service that
 * is bound must be there (10143) and have been deployed (10144), and limits need the paid plan
 * (100328). A token may lack a right (10000).
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';

const ACCOUNT = 'acc0';
const API = '/client/v4';
const SUBDOMAIN = 'somebody';
const PAGE = 20;

interface Database {
  readonly name: string;
  readonly sqlite: DatabaseSync;
}

type Binding = Readonly<Record<string, unknown> & { name: string; type: string }>;

/** The part of an upload's metadata that is read here. */
export interface Metadata {
  readonly bindings: readonly Binding[];
  readonly limits?: Readonly<Record<string, number>>;
  readonly logpush?: boolean;
  readonly observability?: object;
  readonly code_update_strategy?: object;
  readonly migrations?: { readonly old_tag?: string; readonly new_tag: string };
}

export interface Script {
  /** The tag of the newest migration of Durable Objects. */
  migrationTag: string | null;
  /** Versions by their ids. */
  readonly versions: Map<string, Metadata>;
  /** Id of the version that runs; `null` for a Worker that has only been given a secret. */
  deployed: string | null;
  /** Settings for all versions: logs, and how objects take a new one. */
  settings: Readonly<Record<string, unknown>>;
  subdomain: Readonly<Record<string, unknown>>;
  crons: readonly string[];
  /** Their names. */
  readonly secrets: Set<string>;
}

const secretsOf = ({ secrets }: Script): object[] =>
  Array.from(secrets, (name) => ({ name, type: 'secret_text' }));

/** A Worker that has been given a secret, and was never uploaded. */
const DRAFT: Script = {
  migrationTag: null,
  versions: new Map(),
  deployed: null,
  settings: {},
  subdomain: {},
  crons: [],
  secrets: new Set(),
};

interface Deployed {
  readonly versions: readonly [{ readonly version_id: string }];
  readonly code_update_strategy?: object;
}

interface Call {
  readonly method: string;
  /** Within the account. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
  /** Tells calls apart: method and path, and what the body names. */
  readonly words: string;
}

/**
 * How the line breaks at a call: before the server does what it asks, or afterwards, so that only
 * the answer is lost.
 */
export type Break = 'before' | 'after';

class Refusal extends Error {
  readonly code: number;
  readonly status: number;
  constructor(code: number, message: string, status = 400) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

const notFound = (code: number): Refusal => new Refusal(code, 'not found', 404);
const json = (value: string): Record<string, string> => JSON.parse(value) as Record<string, string>;

function namedIn(path: string, body: string): string {
  if (/\/(?:namespaces|query)$/.test(path)) return ` ${body}`;
  return body.includes('"type":"service"') ? ' with SELF' : '';
}

/** Wrangler asks for one page after the other, until one is empty or short. */
function page(result: unknown, query: URLSearchParams): unknown {
  if (!Array.isArray(result)) return result;
  const size = Number(query.get('per_page') ?? PAGE);
  const start = (Number(query.get('page') ?? 1) - 1) * size;
  return result.slice(start, start + size);
}

export class Cloudflare {
  readonly unknown: string[] = [];
  /** Databases by their ids. */
  readonly databases = new Map<string, Database>();
  /** Their titles, by their ids. */
  readonly namespaces = new Map<string, string>();
  readonly scripts = new Map<string, Script>();
  plan: 'free' | 'paid' = 'paid';
  /** Calls that the token may not make, by method and path. */
  forbidden: RegExp | null = null;
  /** Asked at each call that reaches the account. */
  breaks: (call: string) => Break | null = () => null;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<Cloudflare> {
    const server = createServer();
    const cloud = new Cloudflare(server);
    server.on('request', (request, response) => {
      void text(request).then((body) => {
        const { pathname, searchParams: query } = new URL(request.url ?? '/', cloud.url);
        const path = pathname.replace(API, '').replace(`/accounts/${ACCOUNT}`, '');
        const method = request.method ?? '';
        cloud.#answer(
          { method, path, query, body, words: `${method} ${path}${namedIn(path, body)}` },
          response,
        );
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return cloud;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${API}`;
  }

  /** Adds a Worker without a version, as `wrangler secret put` does before the first upload. */
  addDraft(name: string): void {
    this.scripts.set(name, { ...DRAFT, versions: new Map(), secrets: new Set() });
  }

  /** A Worker of another program, which was deployed once. */
  addAnothers(name: string): void {
    const versions = new Map([['v1', { bindings: [] }]]);
    this.scripts.set(name, { ...DRAFT, versions, deployed: 'v1', secrets: new Set() });
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
    for (const { sqlite } of this.databases.values()) sqlite.close();
  }

  #answer(call: Call, response: ServerResponse): void {
    const broken = this.breaks(call.words);
    if (broken === 'before') {
      response.destroy();
      return;
    }
    const { status, body } = this.#outcome(call);
    if (broken === 'after') response.destroy();
    else response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }

  #outcome(call: Call): { status: number; body: object } {
    const words = `${call.method} ${call.path}`;
    try {
      if (this.forbidden?.test(words)) throw new Refusal(10_000, 'Authentication error', 403);
      for (const [pattern, run] of this.#routes) {
        const [matched, ...parts] = pattern.exec(words) ?? [];
        if (matched === undefined) continue;
        const result = run(parts.map(decodeURIComponent), call.body);
        return {
          status: 200,
          body: { success: true, errors: [], messages: [], result: page(result, call.query) },
        };
      }
      this.unknown.push(words);
      throw notFound(7003);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { code, message, status } = error;
      return { status, body: { success: false, errors: [{ code, message }], messages: [], result: null } };
    }
  }

  /** Actions of calls, by method and path within the account. */
  readonly #routes: readonly (readonly [RegExp, (parts: readonly string[], body: string) => unknown])[] = [
    [/^GET \/user(?:\/tokens\/verify)?$/, () => ({ id: 'user0', status: 'active' })],
    [/^GET \/accounts$/, () => [{ id: ACCOUNT, name: 'An account' }]],
    [/^GET \/memberships$/, () => [{ account: { id: ACCOUNT, name: 'An account' } }]],
    [/^GET \/d1\/database$/, () => [...this.databases].map(([uuid, { name }]) => ({ uuid, name }))],
    [/^POST \/d1\/database$/, (_, body) => this.#createDatabase(json(body)['name'] ?? '')],
    [/^GET \/d1\/database\/([^/]+)$/, ([name = '']) => this.#databaseInfo(name)],
    [/^POST \/d1\/database\/([^/]+)\/query$/, ([id = ''], body) => this.#query(id, json(body)['sql'] ?? '')],
    [/^GET \/storage\/kv\/namespaces$/, () => [...this.namespaces].map(([id, title]) => ({ id, title }))],
    [/^POST \/storage\/kv\/namespaces$/, (_, body) => this.#createNamespace(json(body)['title'] ?? '')],
    [/^GET \/workers\/subdomain$/, () => ({ subdomain: SUBDOMAIN })],
    [/^GET \/workers\/services\/([^/]+)$/, ([name = '']) => this.#service(name)],
    [/^GET \/workers\/workers\/([^/]+)$/, ([name = '']) => this.#script(name)],
    [/^GET \/workers\/scripts\/([^/]+)\/secrets$/, ([name = '']) => secretsOf(this.#script(name))],
    [/^PUT \/workers\/scripts\/([^/]+)\/secrets$/, ([name = ''], body) => this.#keepSecret(name, body)],
    [/^GET \/workers\/scripts\/([^/]+)\/settings$/, ([name = '']) => this.#versionSettings(name)],
    [/^GET \/workers\/scripts\/([^/]+)\/deployments$/, ([name = '']) => this.#deployments(name)],
    [/^PUT \/workers\/scripts\/([^/]+)$/, ([name = ''], body) => this.#upload(name, body)],
    [/^POST \/workers\/scripts\/([^/]+)\/versions$/, ([name = ''], body) => this.#uploadVersion(name, body)],
    [/^POST \/workers\/scripts\/([^/]+)\/deployments$/, ([name = ''], body) => this.#deploy(name, body)],
    [/^POST \/workers\/scripts\/([^/]+)\/subdomain$/, ([name = ''], body) => this.#open(name, body)],
    [/^PATCH \/workers\/scripts\/([^/]+)\/script-settings$/, ([name = ''], body) => this.#change(name, body)],
    [/^PUT \/workers\/scripts\/([^/]+)\/schedules$/, ([name = ''], body) => this.#schedule(name, body)],
  ];

  #createDatabase(name: string): object {
    if ([...this.databases.values()].some((each) => each.name === name)) {
      throw new Refusal(7502, 'Database with that name already exists');
    }
    const uuid = randomUUID();
    this.databases.set(uuid, { name, sqlite: new DatabaseSync(':memory:') });
    return { uuid, name };
  }

  #databaseInfo(wanted: string): object {
    const found = [...this.databases].find(([uuid, { name }]) => uuid === wanted || name === wanted);
    if (!found) throw notFound(7404);
    return { uuid: found[0], name: found[1].name };
  }

  #query(id: string, sql: string): object {
    const sqlite = this.databases.get(id)?.sqlite;
    if (!sqlite) throw notFound(7404);
    if (/^\s*SELECT/i.test(sql)) return [{ results: sqlite.prepare(sql).all(), success: true, meta: {} }];
    try {
      sqlite.exec(`BEGIN; ${sql}; COMMIT`);
    } catch (error) {
      sqlite.exec('ROLLBACK');
      throw new Refusal(7500, String(error));
    }
    return [{ results: [], success: true, meta: {} }];
  }

  #createNamespace(title: string): object {
    if ([...this.namespaces.values()].includes(title)) {
      throw new Refusal(10014, 'a namespace with this account ID and title already exists');
    }
    const id = randomUUID().replaceAll('-', '');
    this.namespaces.set(id, title);
    return { id, title };
  }

  #script(name: string): Script {
    const script = this.scripts.get(name);
    if (!script) throw new Refusal(10007, 'This Worker does not exist on your account.', 404);
    return script;
  }

  #service(name: string): object {
    const { migrationTag } = this.#script(name);
    const script = { tag: `tag-of-${name}`, tags: null, migration_tag: migrationTag ?? undefined };
    return {
      default_environment: {
        environment: 'production',
        script: { ...script, last_deployed_from: 'wrangler' },
      },
    };
  }

  /** A version of its own, as Cloudflare makes one; uploads keep it. */
  #keepSecret(name: string, body: string): object {
    const { name: secret = '' } = json(body);
    this.#script(name).secrets.add(secret);
    return { name: secret, type: 'secret_text' };
  }

  #versionSettings(name: string): object {
    const { deployed, versions } = this.#script(name);
    return { bindings: versions.get(deployed ?? '')?.bindings ?? [] };
  }

  #deployments(name: string): object {
    const { deployed } = this.#script(name);
    const versions = [{ version_id: deployed, percentage: 100 }];
    return { deployments: deployed === null ? [] : [{ id: randomUUID(), versions }] };
  }

  /** Creates the Worker, or replaces it, and carries out its migrations of Durable Objects. */
  #upload(name: string, form: string): object {
    const metadata = this.#checked(form);
    const before = this.scripts.get(name) ?? { ...DRAFT, secrets: new Set() };
    const { old_tag: oldTag = null, new_tag: newTag } = metadata.migrations ?? {
      new_tag: before.migrationTag,
    };
    if (metadata.migrations && oldTag !== before.migrationTag) {
      throw new Refusal(10_079, 'Actor migration tag precondition failed', 412);
    }
    const id = randomUUID();
    const versions = new Map([...before.versions, [id, metadata]]);
    const { logpush, observability, code_update_strategy } = metadata;
    const settings = { logpush, observability, code_update_strategy };
    this.scripts.set(name, { ...before, migrationTag: newTag, versions, deployed: id, settings });
    return { id, deployment_id: id.replaceAll('-', ''), startup_time_ms: 1 };
  }

  #uploadVersion(name: string, form: string): object {
    const id = randomUUID();
    this.#script(name).versions.set(id, this.#checked(form));
    return { id, resources: { script: { etag: 'e' } }, startup_time_ms: 1, metadata: {} };
  }

  #deploy(name: string, body: string): object {
    const { versions, code_update_strategy } = JSON.parse(body) as Deployed;
    const script = this.#script(name);
    script.deployed = versions[0].version_id;
    script.settings = { ...script.settings, code_update_strategy };
    return { id: randomUUID() };
  }

  #change(name: string, body: string): object {
    const script = this.#script(name);
    script.settings = { ...script.settings, ...json(body) };
    return script.settings;
  }

  #open(name: string, body: string): object {
    this.#script(name).subdomain = json(body);
    return json(body);
  }

  #schedule(name: string, body: string): object {
    const schedules = JSON.parse(body) as { cron: string }[];
    this.#script(name).crons = schedules.map(({ cron }) => cron);
    return { schedules };
  }

  #checked(form: string): Metadata {
    const [, part = ''] = /name="metadata"\r\n(?:[^\r]+\r\n)*\r\n(.*?)\r\n--/s.exec(form) ?? [];
    const metadata = JSON.parse(part) as Metadata;
    if (metadata.limits && this.plan === 'free') {
      throw new Refusal(100_328, 'CPU limits are not supported for the Free plan.');
    }
    for (const binding of metadata.bindings) this.#checkBinding(binding);
    return metadata;
  }

  #checkBinding({ type, name, ...binding }: Binding): void {
    const to = String(binding['namespace_id'] ?? binding['id'] ?? binding['service']);
    if (type === 'kv_namespace' && !this.namespaces.has(to)) {
      throw new Refusal(10_041, `KV namespace '${to}' not found.`);
    }
    if (type === 'd1' && !this.databases.has(to)) {
      throw new Refusal(10_181, `D1 binding '${name}' references database '${to}' which was not found.`);
    }
    if (type !== 'service') return;
    const target = this.scripts.get(to);
    if (!target) {
      throw new Refusal(
        10_143,
        `Could not resolve service binding '${name}'. Target script '${to}' not found.`,
      );
    }
    if (target.deployed === null) {
      throw new Refusal(
        10_144,
        `Could not resolve service binding '${name}'. Target environment 'production' not found for target script '${to}'.`,
      );
    }
  }
}
