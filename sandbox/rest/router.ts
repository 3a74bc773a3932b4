/**
 * The REST interface under `/api/v3`, where GitHub Enterprise Server has it. The router finds the
 * account of the token and the route, and turns a refusal into GitHub's error body. Every answer
 * has the rate-limit and version headers of GitHub.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { Router } from 'itty-router';
import type { Host } from '../host.ts';
import { BAD_CREDENTIALS } from '../known-answers.ts';
import { botOf } from '../records.ts';
import type { Answer, ApiCall, Caller } from './api-call.ts';
import { Refusal, json, notFound, refusedAs } from './api-call.ts';
import { requireAllowed } from './app-permissions.ts';
import { requireInstallationToken, requireSignedBy } from './app-token.ts';
import { appRoutes } from './apps.ts';
import { commentRoutes } from './comments.ts';
import { reactionRoutes } from './reactions.ts';
import { contentRoutes } from './contents.ts';
import { forkRoutes } from './forks.ts';
import { issueRoutes } from './issues.ts';
import { notificationRoutes } from './notifications.ts';
import { privateReportRoutes } from './private-reports.ts';
import { pullRoutes } from './pulls.ts';
import { refRoutes } from './refs.ts';
import { repositoryRoutes } from './repositories.ts';
import { reviewRoutes } from './reviews.ts';
import type { Route } from './route.ts';
import { userRoutes } from './users.ts';

const BASE = '/api/v3';
const DOCUMENTATION = 'https://docs.github.com/rest';
const ANONYMOUS_CALLS_AN_HOUR = 60;
const HOUR_MS = 3_600_000;

/** A REST request whose body has been read. */
export interface ApiRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A request as a route gets it from the router. */
interface MatchedRequest {
  readonly request: ApiRequest;
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
}

const METHODS = { GET: 'get', POST: 'post', PATCH: 'patch', PUT: 'put', DELETE: 'delete' } as const;

const ROUTES: readonly Route[] = [
  ...userRoutes,
  ...repositoryRoutes,
  ...forkRoutes,
  ...refRoutes,
  ...contentRoutes,
  ...pullRoutes,
  ...reviewRoutes,
  ...issueRoutes,
  ...commentRoutes,
  ...reactionRoutes,
  ...notificationRoutes,
  ...privateReportRoutes,
  ...appRoutes,
];

/** Builds the function that answers a REST request. */
export function restApi(host: Host, callsAnHour: number): (request: ApiRequest) => Promise<Answer> {
  const router = Router({ base: BASE });
  for (const route of ROUTES) {
    const handle = ({ request, caller, params }: MatchedRequest) =>
      refusalsAnswered(route.documentation, async () => {
        const call = apiCall(host, request, params, caller);
        requireAllowed(call, route);
        return route.handle(call);
      });
    router[METHODS[route.method]]<MatchedRequest>(route.path, handle);
  }
  const budgets = new RateBudgets(host.now, callsAnHour);
  return async (request) => {
    const url = redirectedById(host, request.url);
    let caller: Caller = NOBODY;
    const answer = await refusalsAnswered('', async () => {
      caller = authenticate(host, request.headers);
      const found = (await router.fetch({ method: request.method, url, request, caller })) as Answer | null;
      return found ?? refusalAnswer(notFound(), '');
    });
    const { authorization } = request.headers;
    const isClassic = authorization !== undefined && !APP_TOKEN.test(authorization);
    const scopes = isClassic ? scopeHeaders(host) : {};
    return {
      ...answer,
      headers: { ...answer.headers, ...scopes, ...budgets.spend(request.headers, caller) },
    };
  };
}

/**
 * Makes the headers for a classic token
 * (docs.github.com/apps/oauth-apps/building-oauth-apps/scopes-for-oauth-apps).
 */
function scopeHeaders({ botScopes }: Host): Record<string, string> {
  return { 'x-oauth-scopes': botScopes.join(', '), 'x-accepted-oauth-scopes': '' };
}

const NOBODY: Caller = { viewer: null, credential: null };
/** Begins the header with a token of an installation, or of the App itself. */
const APP_TOKEN = /^\w+ +(?:ghs_|[\w-]+\.[\w-]+\.)/;

/** Finds the account of a token; nobody if none was sent. Refuses an unknown token. */
export function authenticate(host: Host, headers: IncomingHttpHeaders): Caller {
  const header = headers.authorization;
  if (header === undefined) return NOBODY;
  const [, scheme = '', credentials = ''] = /^(\w+) +(.*)$/.exec(header) ?? [];
  const isBasic = scheme.toLowerCase() === 'basic';
  const [login = '', ...password] = isBasic ? Buffer.from(credentials, 'base64').toString().split(':') : [];
  const token = isBasic ? password.join(':') : credentials;
  const user = host.store.findUser(login);
  const isPerson = user !== undefined && user !== host.bot;
  if (isBasic && token === host.maintainerPassword && isPerson) return { viewer: user, credential: null };
  if (!['basic', 'bearer', 'token'].includes(scheme.toLowerCase())) throw refusedAs(BAD_CREDENTIALS);
  if (token === host.botToken) return { viewer: host.bot, credential: null };
  return authenticateApp(host, scheme.toLowerCase(), token);
}

/** Finds the App or its installation. The App's own token is for the scheme `Bearer` alone. */
function authenticateApp(host: Host, scheme: string, token: string): Caller {
  const { app } = host.apps;
  if (scheme === 'bearer' && token.split('.').length === 3) {
    requireSignedBy(app, token, host.now());
    return { viewer: null, credential: 'app' };
  }
  if (app === null) throw refusedAs(BAD_CREDENTIALS);
  const credential = requireInstallationToken(host.apps, token);
  return { viewer: host.store.ensureUser(botOf(app)), credential };
}

function apiCall(
  host: Host,
  request: ApiRequest,
  params: Readonly<Record<string, string>>,
  caller: Caller,
): ApiCall {
  return {
    ...caller,
    host,
    method: request.method,
    url: new URL(request.url),
    headers: request.headers,
    params: Object.fromEntries(Object.entries(params).map(([name, value]) => [name, decodePathPart(value)])),
    payload: parsePayload(request.body),
  };
}

function decodePathPart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw notFound();
  }
}

function parsePayload(body: Buffer): Record<string, unknown> {
  if (body.length === 0) return {};
  let payload: unknown;
  try {
    payload = JSON.parse(body.toString());
  } catch {
    throw new Refusal(400, 'Problems parsing JSON');
  }
  if (payload === null || typeof payload !== 'object' || Array.isArray(payload)) {
    throw new Refusal(400, 'Body should be a JSON object');
  }
  return payload as Record<string, unknown>;
}

async function refusalsAnswered(documentation: string, handle: () => Promise<Answer>): Promise<Answer> {
  try {
    return await handle();
  } catch (error) {
    if (error instanceof Refusal) return refusalAnswer(error, documentation);
    throw error;
  }
}

function refusalAnswer(refusal: Refusal, documentation: string): Answer {
  const body = {
    message: refusal.message,
    ...(refusal.errors && { errors: refusal.errors }),
    ...(refusal.url !== undefined && { url: refusal.url }),
    documentation_url: documentation === '' ? DOCUMENTATION : `${DOCUMENTATION}/${documentation}`,
    status: String(refusal.status),
  };
  return json(refusal.status, body, refusal.headers);
}

/** Resolves `/repositories/:id`, to which a renamed repository redirects. */
function redirectedById(host: Host, url: string): string {
  const parsed = new URL(url);
  const [, id, rest = ''] = /^\/api\/v3\/repositories\/(\d+)(\/.*)?$/.exec(parsed.pathname) ?? [];
  const repository = id === undefined ? undefined : host.store.repositoryById(Number(id));
  if (!repository) return url;
  parsed.pathname = `${BASE}/repos/${repository.owner}/${repository.name}${rest}`;
  return parsed.href;
}

/**
 * Counts calls by the hour and tells the count: that of an installation apart from that of all
 * others. Only injected faults refuse calls.
 */
class RateBudgets {
  readonly #now: () => Date;
  readonly #callsAnHour: number;
  readonly #spent = new Map<number, { resetsAt: number; used: number }>();

  constructor(now: () => Date, callsAnHour: number) {
    this.#now = now;
    this.#callsAnHour = callsAnHour;
  }

  spend(headers: IncomingHttpHeaders, { credential }: Caller): Record<string, string> {
    const now = this.#now().getTime();
    const id = typeof credential === 'object' && credential !== null ? credential.installation.id : 0;
    const before = this.#spent.get(id);
    const { resetsAt, used } =
      before && now < before.resetsAt ? before : { resetsAt: now + HOUR_MS, used: 0 };
    this.#spent.set(id, { resetsAt, used: used + 1 });
    const limit = headers.authorization === undefined ? ANONYMOUS_CALLS_AN_HOUR : this.#callsAnHour;
    return {
      'x-github-media-type': 'github.v3; format=json',
      'x-github-api-version-selected': '2022-11-28',
      'x-ratelimit-limit': String(limit),
      'x-ratelimit-remaining': String(Math.max(0, limit - used - 1)),
      'x-ratelimit-reset': String(Math.floor(resetsAt / 1000)),
      'x-ratelimit-used': String(used + 1),
      'x-ratelimit-resource': 'core',
    };
  }
}
