/** A host with one App, whose installations a test sets, and whose clock may be off. */
import { generateKeyPairSync } from 'node:crypto';
import { AppWriters } from '../../../src/host/app/app-writers.ts';
import { type AppAbsence, GitHubApp } from '../../../src/host/app/github-app.ts';
import { readAppKey } from '../../../src/host/app/app-key.ts';
import type { RestAccess } from '../../../src/host/rest/rest.ts';
import { fullName, type RepositoryName } from '../../../src/words/repository-name.ts';
import { ACCOUNT } from '../support/back-off.ts';
import { API, type AskedRequest, json, PatientClock, ScriptedHost } from '../support/scripted-host.ts';

export const APP = 17;
export const NAME = { owner: 'octo', name: 'hello' };
const KEY = readAppKey(
  generateKeyPairSync('rsa', { modulusLength: 2048 })
    .privateKey.export({ type: 'pkcs1', format: 'pem' })
    .toString(),
);
const GRANTED = { issues: 'write', pull_requests: 'write', metadata: 'read', contents: 'read' };

/** The answers that a test changes. */
export interface AppState {
  /** The installation of the repository; null: there is none. */
  installation: { id: number; suspended_at: string | null; permissions: Record<string, string> } | null;
  /** How far the host's clock is ahead of the service's. */
  skewMs: number;
  /** Tokens that the host has taken back. */
  readonly revoked: Set<string>;
  /** Answers in place of all that Apps ask; null: nothing does. */
  broken: (() => Response) | null;
  /** Answers in place of what an installation's token writes; null: nothing does. */
  refused: (() => Response) | null;
  /** For how long after it was made the host does not know a token everywhere, and what it says. */
  lag: { readonly ms: number; readonly refuse: () => Response };
  /** True if the installation itself does not show that it is suspended. */
  hidesSuspension: boolean;
  /** The permission of everybody who is asked for. */
  permission: string;
  /** The authors of the comments on a thread. */
  authors: { id: number; type: string }[];
}

export function installedAs(id: number, permissions: Record<string, string> = GRANTED) {
  return { id, suspended_at: null, permissions };
}

export class AppHost {
  readonly state: AppState = {
    installation: installedAs(5),
    skewMs: 0,
    revoked: new Set(),
    broken: null,
    refused: null,
    lag: { ms: 0, refuse: () => json(401, {}) },
    hidesSuspension: false,
    permission: 'write',
    authors: [],
  };
  readonly clock = new PatientClock();
  readonly http = new ScriptedHost((request) => this.#answer(request));
  /** Notes of installations, and what they answer where it is missing. */
  readonly noted: string[] = [];
  absence: AppAbsence | null = null;
  readonly failures: unknown[] = [];
  /** How often the operator would be told that a permission is missing. */
  lacking = 0;
  readonly app: GitHubApp;
  readonly writers: AppWriters;
  readonly access: RestAccess;
  readonly #madeAt: number[] = [];

  constructor() {
    const account = { kind: 'github', apiUrl: API, http: this.http, token: 'account', ...ACCOUNT } as const;
    const access = { ...account, clock: this.clock };
    const note = async (repository: RepositoryName, installation: number | null) => {
      this.noted.push(`${fullName(repository)} ${installation === null ? 'no' : 'yes'}`);
      return installation === null ? this.absence : null;
    };
    this.app = new GitHubApp({ id: APP, key: KEY }, access, ACCOUNT, note);
    this.writers = new AppWriters({
      app: this.app,
      accountOf: ({ id }) => `installation ${id}`,
      limitsOf: () => ACCOUNT,
      failed: (error) => this.failures.push(error),
      lacking: () => (this.lacking += 1),
      clock: this.clock,
    });
    this.access = { ...access, writers: this.writers };
  }

  /** Lists what was asked, as method, path and the token's first letters. */
  get asked(): string[] {
    return this.http.asked.map(({ method, path, headers }) => {
      const [kind = '', token = ''] = (headers.get('authorization') ?? '').split(' ');
      return `${method} ${path} ${kind === 'Bearer' ? 'as the App' : token}`.trim();
    });
  }

  #answer(request: AskedRequest): Response {
    const { path, headers } = request;
    if ((headers.get('authorization') ?? '').startsWith('Bearer ')) return this.#ofApp(request);
    if (path.endsWith('/permission')) return json(200, { permission: this.state.permission });
    if (path === '/user') return json(200, { id: 1, login: 'veil-bot' });
    if (path.startsWith('/users/')) return json(200, { id: 99, login: 'veil-app[bot]', type: 'Bot' });
    return this.#written(request);
  }

  #ofApp({ method, path, headers, body }: AskedRequest): Response {
    const { installation, skewMs, broken } = this.state;
    const now = this.clock.now() + skewMs;
    const date = { Date: new Date(now).toUTCString() };
    if (broken !== null) return broken();
    const [, claims = ''] = (headers.get('authorization') ?? '').split('.');
    const { iat, exp } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, number>;
    if (exp! > now / 1000 + 600)
      return json(401, { message: "'Expiration time' claim ('exp') is too far in the future" }, date);
    if (iat! > now / 1000 || exp! < now / 1000)
      return json(401, { message: "'Issued at' claim ('iat') must be in the past" }, date);
    if (path === '/app') return json(200, { id: APP, slug: 'veil-app' });
    if (installation === null) return json(404, { message: 'Not Found' });
    const { hidesSuspension } = this.state;
    if (method === 'GET')
      return json(200, { ...installation, ...(hidesSuspension && { suspended_at: null }) });
    if (installation.suspended_at !== null)
      return json(403, { message: 'This installation has been suspended' });
    const { permissions } = JSON.parse(body) as { permissions: Record<string, string> };
    const lacks = Object.entries(permissions).some(
      ([name, level]) => installation.permissions[name] !== level,
    );
    if (lacks)
      return json(422, { message: 'The permissions requested are not granted to this installation.' });
    const token = `ghs_${this.#madeAt.push(this.clock.now())}`;
    return json(201, { token, expires_at: new Date(now + 3_600_000).toISOString() });
  }

  #written({ method, path, headers }: AskedRequest): Response {
    const token = (headers.get('authorization') ?? '').slice('token '.length);
    if (this.state.revoked.has(token)) return json(401, { message: 'Bad credentials' });
    const { lag } = this.state;
    const madeAt = this.#madeAt[Number(token.slice('ghs_'.length)) - 1];
    if (madeAt !== undefined && this.clock.now() < madeAt + lag.ms) return lag.refuse();
    const comment = { id: 3, html_url: 'https://host.test/octo/hello/issues/1#3', body: 'text' };
    if (token.startsWith('ghs_') && this.state.refused !== null) return this.state.refused();
    if (path.includes('/comments?'))
      return json(
        200,
        this.state.authors.map((user) => ({ ...comment, user })),
      );
    if (method === 'DELETE') return new Response(null, { status: 204 });
    return json(method === 'POST' ? 201 : 200, comment);
  }
}
