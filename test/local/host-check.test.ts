/**
 * Findings of `npm run doctor` about Gitea and Forgejo, in versions and with settings that no other
 * test runs.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Finding } from '../../local/operator/finding.ts';
import { checkHost } from '../../local/operator/host-check.ts';
import type { HostKind } from '../../src/host/kinds.ts';

interface Answered {
  readonly status: number;
  readonly body?: unknown;
  /** Target of a redirect. */
  readonly location?: string;
}
type Script = (path: string, request: IncomingMessage) => Answered | undefined;

let close = (): void => {};
afterEach(() => close());

interface Checked {
  readonly kind?: HostKind;
  readonly token?: string | null;
}

/** A server that has all that the service needs, but for what `script` answers. */
async function check(
  script: Script,
  { kind = 'gitea', token = 'secret' }: Checked = {},
): Promise<readonly Finding[]> {
  const usual: Record<string, Answered> = {
    '/api/v1/version': { status: 200, body: { version: '1.27.3' } },
    '/api/v1/settings/repository': { status: 200, body: {} },
    '/ssh_info': { status: 200, body: { type: 'agit', version: 1 } },
    '/api/v1/user': { status: 200, body: { id: 1, login: 'bot' } },
    '/api/v1/notifications?limit=1': { status: 200, body: [] },
  };
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    const answered: Answered = script(path, request) ?? usual[path] ?? { status: 404 };
    const { status, body = {}, location } = answered;
    response.writeHead(status, location === undefined ? {} : { location }).end(JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  close = () => server.close();
  await new Promise((done) => server.once('listening', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const apiUrl = kind === 'github' ? url : `${url}/api/v1`;
  return (await checkHost({ key: 'my', kind, url, apiUrl, token })).findings;
}

const at =
  (path: string, status: number, body?: unknown): Script =>
  (asked) =>
    asked === path ? { status, body } : undefined;
const states = (findings: readonly Finding[]) => findings.map(({ subject, state }) => `${subject} ${state}`);
const READY = ['host my ok', 'token my ok'];

describe('a server', () => {
  it.each(['gitea', 'github'] as const)(
    'that sends its clients to another is told of, as the service does not follow: %s',
    async (kind) => {
      const findings = await check(
        (path, { headers: { host = '' } }) =>
          host.startsWith('127.0.0.1')
            ? { status: 301, location: `http://${host.replace('127.0.0.1', 'localhost')}${path}` }
            : { status: 200, body: { version: '1.27.3', login: 'bot' } },
        { kind },
      );
      expect(findings).toHaveLength(1);
      expect(findings[0]?.says).toMatch(/it redirects to http:\/\/localhost:\d+/);
    },
  );

  it.each([
    ['1.19.4', 'gitea', 'is Gitea 1.19.4'],
    ['1.20.0', 'gitea', null],
    ['7.0.1+gitea-1.21.11', 'forgejo', null],
    ['11.0.1+gitea-1.22.0', 'gitea', 'is Forgejo 11.0.1'],
    ['1.26.0', 'forgejo', 'is Gitea 1.26.0'],
    ['development', 'forgejo', null],
  ] as const)('that is %s, and configured as %s', async (version, kind, says) => {
    const findings = await check(at('/api/v1/version', 200, { version }), { kind });
    if (says === null) expect(states(findings)).toEqual(READY);
    else
      expect(findings).toMatchObject([{ state: 'problem', says: expect.stringContaining(says) as string }]);
  });

  it.each([
    ['has no Git over HTTP', at('/api/v1/settings/repository', 200, { http_git_disabled: true })],
    ['has no AGit flow', at('/ssh_info', 404)],
    ['is closed to the public', at('/api/v1/version', 403, { message: 'Only signed in user' })],
    ['is no gitea', at('/api/v1/version', 404)],
    ['is no gitea', at('/api/v1/version', 200, 'a page')],
    ['does not answer (503 Service Unavailable)', at('/api/v1/version', 503)],
    ['does not answer (429 Too Many Requests)', at('/api/v1/version', 429)],
    ['does not answer (500 Internal Server Error)', at('/api/v1/user', 500)],
  ])('that %s', async (says, script) => {
    const findings = await check(script);
    expect(findings).toMatchObject([{ state: 'problem', says: expect.stringContaining(says) as string }]);
    expect(findings[0]?.remedy).toMatch(/\.$/);
  });

  it('that is no GitHub', async () => {
    const findings = await check(() => undefined, { kind: 'github' });
    expect(findings).toMatchObject([
      { state: 'problem', says: expect.stringContaining('is no GitHub') as string },
    ]);
  });
});

const isGit = (path: string): boolean => path.startsWith('/bot/gitveil-asks-for-its-scopes.git/');
const lacks = (scope: string): Answered => ({
  status: 403,
  body: { message: `token does not have at least one of required scope(s), required=[${scope}]` },
});

describe('a token', () => {
  const publicOnly = { subject: 'token my', state: 'problem', says: 'public-only' };

  it('is used for a repository that does not exist only, and nothing is created', async () => {
    const asked: string[] = [];
    const findings = await check((path, { method, headers }) => {
      asked.push(`${method} ${path} ${headers.authorization?.split(' ')[0] ?? 'nobody'}`);
      return undefined;
    });
    expect(states(findings)).toEqual(READY);
    expect(asked.toSorted()).toEqual([
      'GET /api/v1/notifications?limit=1 token',
      'GET /api/v1/settings/repository nobody',
      'GET /api/v1/user token',
      'GET /api/v1/version nobody',
      'GET /bot/gitveil-asks-for-its-scopes.git/info/refs?service=git-upload-pack Basic',
      'GET /ssh_info nobody',
      'POST /api/v1/repos/bot/gitveil-asks-for-its-scopes/issues token',
      'POST /api/v1/repos/bot/gitveil-asks-for-its-scopes/pulls token',
    ]);
  });

  it('may lack several scopes', async () => {
    const [, token] = await check((path) => {
      if (path.endsWith('/issues')) return lacks('write:issue');
      return path.includes('/notifications') ? lacks('read:notification') : undefined;
    });
    expect(token?.says).toBe('no-write:issue, no-read:notification');
  });

  it('of an account whose name would clear the terminal', async () => {
    const [, token] = await check(at('/api/v1/user', 200, { id: 1, login: '../\u001b[2Jbot' }));
    expect(token).toMatchObject({ state: 'ok', says: '../[U+001B][2Jbot, with every scope it needs' });
  });

  it('of a suspended account, or of one that the host refuses for another reason', async () => {
    const suspended = await check(at('/api/v1/user', 403, { message: 'You are prohibited from signing in' }));
    expect(suspended[1]).toMatchObject({ state: 'problem', says: 'suspended' });
    const [, refused] = await check(at('/api/v1/user', 403, { message: 'No entry from 192.0.2.7' }));
    expect(refused).toMatchObject({ state: 'problem', says: 'is refused' });
    expect(refused?.remedy).toContain('No entry from');
    expect(refused?.remedy).not.toContain('192.0.2.7');
  });

  it('for public repositories only, where Gitea 1.27.3 refuses it notifications', async () => {
    const message = 'this endpoint is not available for public-only tokens';
    const [, token] = await check(at('/api/v1/notifications?limit=1', 403, { message }));
    expect(token).toMatchObject(publicOnly);
  });

  it('for public repositories only, where Git fails, as in Gitea 1.26 and Forgejo', async () => {
    const [, token] = await check((path, { headers }) =>
      isGit(path) ? { status: headers.authorization === undefined ? 401 : 500 } : undefined,
    );
    expect(token).toMatchObject(publicOnly);
  });

  it.each([
    ['once', [500, 401, 404]],
    ['for everybody', [500, 500, 500]],
    ['behind a proxy', [502, 502, 502]],
  ])('is not blamed where Git fails %s', async (_, statuses) => {
    const findings = await check((path) => (isGit(path) ? { status: statuses.shift() ?? 404 } : undefined));
    expect(states(findings)).toEqual(READY);
  });
});
