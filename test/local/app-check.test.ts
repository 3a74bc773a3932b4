/** Findings of `npm run doctor` about the GitHub App, each with its remedy. */
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { APP_PERMISSIONS } from '../../local/app-permissions.ts';
import { appFindings, type CheckedApp, EVENTS } from '../../local/operator/app-check.ts';
import type { App } from '../../sandbox/records.ts';
import { type Sandbox, startSandbox } from '../../sandbox/sandbox.ts';
import { appToken } from '../sandbox/support/app.ts';

const webhookSecret = 'a-secret-of-the-webhook';
let host: Sandbox;
let app: App;
/** The status with which the service answers a delivery. */
let answers: (signature: string) => number;
let serviceUrl: string;
/** How far the host's clock is ahead of this machine's. */
let skewMs = 0;

const service = createServer((request: IncomingMessage, response) => {
  void buffer(request).then(() => {
    const signature = String(request.headers['x-hub-signature-256']);
    response.writeHead(request.url === '/v1/hooks/github' ? answers(signature) : 404).end();
  });
});

beforeAll(async () => {
  await new Promise<void>((resolve) => void service.listen(0, '127.0.0.1', resolve));
  serviceUrl = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  host = await startSandbox({ now: () => new Date(Date.now() + skewMs) });
  host.createRepository({ owner: 'octo', name: 'hello' });
});

beforeEach(() => {
  skewMs = 0;
  answers = (signature) => (signature === '' ? 401 : 204);
  register(APP_PERMISSIONS);
  host.apps.install('octo', null);
});

afterAll(async () => {
  service.close();
  await host.close();
});

function register(
  permissions: App['permissions'],
  events = EVENTS,
  url = `${serviceUrl}/v1/hooks/github`,
): void {
  const webhook = { url, secret: webhookSecret };
  // A new key for each test would take a minute.
  const { key } = host.apps.app ?? {};
  app = host.apps.register({
    slug: 'gitveil',
    permissions,
    events,
    webhook,
    ...(key !== undefined && { key }),
  });
}

/** Subject, state and words of each finding, and what to do. */
async function check(more: Partial<CheckedApp> = {}): Promise<string[]> {
  const findings = await appFindings({
    host: { apiUrl: host.apiUrl, url: host.url },
    id: app.id,
    token: async (now) => appToken(app, { now: Math.floor(now / 1000) }),
    webhookSecret,
    serviceUrl,
    ...more,
  });
  return findings.map(({ subject, state, says, remedy = '' }) => `${state} ${subject} ${says}. ${remedy}`);
}

const ALL_WELL = [
  'ok app gitveil, which 1 account has installed. ',
  'ok permissions exactly those that are needed. ',
  'ok webhook arrives, and is signed. ',
];

const asAnother = async (now: number) => appToken(app, { now: Math.floor(now / 1000), issuer: '7' });

describe('an App', () => {
  it('is well', async () => {
    expect(await check()).toEqual(ALL_WELL);
  });

  it('is that of the manifest, but for the address', async () => {
    const file = join(import.meta.dirname, '../../deploy/github-app.json');
    const manifest = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    expect(manifest).toMatchObject({ default_permissions: APP_PERMISSIONS, default_events: EVENTS });
    expect(manifest['hook_attributes']).toMatchObject({ url: 'https://git.example.org/v1/hooks/github' });
  });

  it.each([5, -5])(
    'is well, although the clock is %i minutes off, which is told of the host',
    async (minutes) => {
      skewMs = minutes * 60_000;
      expect(await check()).toEqual(ALL_WELL);
    },
  );

  it('has the key of another one', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const key = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
    const token = async (now: number) => appToken(app, { now: Math.floor(now / 1000), key });
    const [found, ...more] = await check({ token });
    expect(found).toMatch(/^problem app is refused: the key is not that of App \d+\. .*set GITHUB_APP_KEY/);
    expect(more).toEqual([]);
  });

  it('has a number that is not known', async () => {
    expect(await check({ token: asAnother, id: 7 })).toEqual([
      expect.stringMatching(/^problem app 7 is not known\. .* Set GITHUB_APP_ID/),
    ]);
  });

  it('is of a host that does not answer', async () => {
    const found = await check({ host: { apiUrl: 'http://127.0.0.1:9', url: 'http://127.0.0.1:9' } });
    expect(found).toEqual([expect.stringMatching(/^problem app cannot be asked \(/)]);
  });
});

describe('permissions', () => {
  it.each<[App['permissions'], string]>([
    [
      { metadata: 'read', issues: 'read' },
      'problem permissions contents: read, issues: write, pull_requests: write missing',
    ],
    [{ ...APP_PERMISSIONS, contents: 'write' }, 'warning permissions more than are needed: contents'],
    [
      { ...APP_PERMISSIONS, administration: 'read' },
      'warning permissions more than are needed: administration',
    ],
    [{ ...APP_PERMISSIONS, repository_advisories: 'write' }, 'ok permissions exactly those that are needed'],
  ])('%j', async (permissions, says) => {
    register(permissions);
    const found = await check();
    expect(found[1]?.startsWith(`${says}. `)).toBe(true);
  });

  it('that an account has not accepted', async () => {
    host.apps.setPermissions('octo', { metadata: 'read', issues: 'write' });
    expect((await check())[1]).toMatch(/^warning permissions not yet accepted by 1 of those who have it\. /);
  });
});

const hook = async (more: Partial<CheckedApp> = {}) => (await check(more))[2];

describe('a webhook', () => {
  it('without a secret', async () => {
    expect(await hook({ webhookSecret: null })).toMatch(/^warning webhook none: .*Set GITHUB_WEBHOOK_SECRET/);
  });

  it('that leads elsewhere', async () => {
    register(APP_PERMISSIONS, EVENTS, 'https://other.example.org/hook');
    expect(await hook()).toMatch(/^problem webhook leads to https:\/\/other\.example\.org\/hook\. /);
  });

  it('that does not tell enough', async () => {
    register(APP_PERMISSIONS, ['issue_comment']);
    expect(await hook()).toMatch(/^problem webhook does not tell of pull_request, pull_request_review\. /);
  });

  it.each([
    [404, 'The running service has no GITHUB_WEBHOOK_SECRET'],
    [401, 'The running service has another GITHUB_WEBHOOK_SECRET'],
    [403, 'Something in front of the service'],
    [302, 'Something in front of the service'],
  ])('that is answered with %i', async (status, remedy) => {
    answers = () => status;
    expect(await hook()).toContain(`problem webhook does not arrive (${status}). ${remedy}`);
  });

  it('of a service that takes what nobody has signed', async () => {
    answers = () => 204;
    expect(await hook()).toContain('problem webhook does not arrive (204)');
  });
});
