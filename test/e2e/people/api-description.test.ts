/** Every answer is as /openapi.json says, and the document is as a public linter wants it. */
import { createHmac } from 'node:crypto';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { DescribedApi } from '../support/described-api.ts';
import type { Person } from '../support/person.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import type { Upstream } from '../support/upstream.ts';
import { RECEIVE_PACK, send } from '../support/wire.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const KEY = 'key-of-the-operator';
const PASSWORD = 'open-sesame';
const WEBHOOK_SECRET = 'a-secret-of-the-webhook';
const keyed = { headers: { 'X-Service-Key': KEY } };

const bed = useOwnTestBed({
  env: {
    SERVICE_API_KEY: KEY,
    PANIC_PASSWORD: PASSWORD,
    GITHUB_WEBHOOK_SECRET: WEBHOOK_SECRET,
    NOTIFY_ADMIN_TOPIC: 'operator',
    OPERATOR_CONTACT: 'mailto:operator@example.org',
    PRIVATE_REPORTS: 'account',
  },
});
let api: DescribedApi;
let upstream: Upstream;

/** Needs what cannot be brought about from outside here; other tests do. */
const ELSEWHERE = [
  / 4XX$/,
  // An answer that was lost: test/routes/threads/issues.test.ts.
  /\/anonymous 409$/,
  // A fault of the service's own, of its configuration, or a client that stalls.
  / (500|408)$/,
  // Above a limit of requests: test/routes/request/limits.test.ts.
  /(?:info\/refs|git-upload-pack|(?:issues|security)\/anonymous|\/v1\/pr\/\{hash\}) 429$/,
  // An isolate without memory: test/e2e/push/busy.test.ts.
  /(?:info\/refs|git-upload-pack) 503$/,
  // A dead ledger: test/routes/service/stats.test.ts.
  /^GET \/api\/\S+ 503$/,
  // Doors beside Git's protocol: test/e2e/push/bundle.test.ts and push-limits.test.ts.
  /\/(?:bundle|patch) (?:409|429|502|503)$/,
  // A service without an operator: test/routes/pardons.test.ts.
  /^POST \/v1\/moderation\/appeal 503$/,
  // A full disk: test/e2e/host/full-disk.test.ts.
  /(?:\/admin\/\S+|\/v1\/moderation\/report) 503$/,
  // One who names no contact: test/routes/service/operator-contact.test.ts.
  /security\.txt 404$/,
  // A service without a webhook, or without memory: test/routes/service/github-hook.test.ts.
  /hooks\/github (?:404|503)$/,
  // One who signs commits: test/routes/service/signing-key.test.ts.
  /gitveil-signing-key 200$/,
];

beforeAll(async () => {
  api = await DescribedApi.of(bed.service.url);
  upstream = await bed.createUpstream({ owner: 'octo', name: 'hello' });
});

/** A POST of JSON by a person. */
const json = (person: Person, body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  headers: { ...person.headers, 'Content-Type': 'application/json', Accept: 'application/json', ...headers },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

/** More than the service takes as JSON. */
const LARGE = JSON.stringify({ body: 'x'.repeat(600 * 1024) });

describe('what the service tells of itself', exhaustive, () => {
  it('is as described', async () => {
    await api.expect(200, 'GET /health', '/health');
    await api.expect(200, 'GET /api/status', '/api/status');
    await api.expect(200, 'GET /openapi.json', '/openapi.json');
    await api.expect(200, 'GET /docs', '/docs');
    await api.expect(200, 'GET /.well-known/security.txt', '/.well-known/security.txt');
    await api.expect(404, 'GET /.well-known/gitveil-signing-key', '/.well-known/gitveil-signing-key');
    await api.expect(200, 'GET /', '/', { headers: { Accept: 'text/html' } });
    await api.expect(200, 'GET /', '/');
    await api.expect(302, 'GET /', '/?repo=octo/hello', { headers: { Accept: 'text/html' } });
    await api.expect(400, 'GET /', '/?repo=what', { headers: { Accept: 'text/html' } });
    await api.expect(200, 'GET /badge/{owner}/{repo}', '/badge/octo/hello');
    await api.expect(400, 'GET /badge/{owner}/{repo}', '/badge/octo/a..b');
    await api.expect(200, 'GET /badge/{host}/{owner}/{repo}', '/badge/gh/octo/hello');
    await api.expect(400, 'GET /badge/{host}/{owner}/{repo}', '/badge/cb/octo/hello');
    await api.expect(200, 'GET /badges/report.svg', '/badges/report.svg');
    await api.expect(200, 'GET /badges/deployed.svg', '/badges/deployed.svg?commit=c0ffee');
    const friendly = '/badges/anonymous-friendly.svg';
    await api.expect(200, `GET ${friendly}`, `${friendly}?repo=octo%2Fhello`);
  });

  it('asks for its key as described', async () => {
    for (const path of ['/metrics', '/api/stats', '/api/recent-prs']) {
      await api.expect(401, `GET ${path}`, path);
      await api.expect(200, `GET ${path}`, path, keyed);
    }
    await api.expect(200, 'GET /metrics', '/metrics', {
      headers: { ...keyed.headers, Accept: 'text/plain' },
    });
    const topic = 'GET /api/pr-status/{hash}';
    await api.expect(401, topic, '/api/pr-status/0123456789ab');
    await api.expect(200, topic, '/api/pr-status/0123456789ab', keyed);
    await api.expect(400, topic, '/api/pr-status/no%20hash', keyed);
  });
});

it('the page of a pull request is as described', exhaustive, async () => {
  const operation = 'GET /v1/pr/{hash}';
  const contribution = await contribute(bed);
  await contribution.clone.commit();
  const { banner } = await expectAccepted(bed, contribution, await contribution.clone.push());
  const path = `/v1/pr/${banner.prHash}`;
  await expect.poll(async () => (await fetch(bed.service.url + path)).status).toBe(200);
  await api.expect(200, operation, path);
  await api.expect(200, operation, path, { headers: { Accept: 'text/html' } });
  await api.expect(200, operation, `${path}.atom`);
  await api.expect(404, operation, '/v1/pr/0123456789ab');
  await api.expect(404, operation, '/v1/pr/0123456789ab', { headers: { Accept: 'text/html' } });
});

describe('comments and issues', exhaustive, () => {
  const issues = 'POST /v1/{host}/{owner}/{repo}/issues/anonymous';
  const path = '/v1/gh/octo/hello/issues/anonymous';
  const TEXTS = { title: 'Title', body: 'Words' };

  it('are answered as described', async () => {
    const person = bed.person();
    await api.expect(200, issues, path, json(person, TEXTS));
    await api.expect(400, issues, path, json(person, { title: 'Title' }));
    await api.expect(413, issues, path, json(person, LARGE));
    for (const thread of ['issues', 'pulls']) {
      const comments = `POST /v1/{host}/{owner}/{repo}/${thread}/{number}/comments/anonymous`;
      const own = `/v1/gh/octo/hello/${thread}/1/comments/anonymous`;
      await api.expect(200, comments, own, json(person, { body: 'Thanks!', user_token: null }));
      await api.expect(400, comments, own, json(person, '{'));
      await api.expect(400, comments, '/v1/gh/octo/nothing/issues/1/comments/anonymous', json(person, TEXTS));
      await api.expect(413, comments, own, json(person, LARGE));
    }
  });

  it('that are sent again with their key are answered as described', async () => {
    const operations: [string, string][] = [[issues, path]];
    for (const thread of ['issues', 'pulls']) {
      const comments = `POST /v1/{host}/{owner}/{repo}/${thread}/{number}/comments/anonymous`;
      operations.push([comments, `/v1/gh/octo/hello/${thread}/1/comments/anonymous`]);
    }
    for (const [operation, address] of operations) {
      const [person, key] = [bed.person(), { 'Idempotency-Key': crypto.randomUUID() }];
      await api.expect(200, operation, address, json(person, TEXTS, key));
      await api.expect(422, operation, address, json(person, { ...TEXTS, body: 'Other words' }, key));
    }
  });

  it('that the repository or the host does not take are answered as described', async () => {
    const person = bed.person();
    const closed = await bed.createUpstream({ name: 'closed' });
    await closed.grow({ files: { '.gitveil.yml': 'accept: false\n' } });
    const operations: [string, string, RegExp][] = [
      [issues, 'issues/anonymous', /\/issues$/],
      [
        'POST /v1/{host}/{owner}/{repo}/issues/{number}/comments/anonymous',
        'issues/1/comments/anonymous',
        /comments$/,
      ],
      [
        'POST /v1/{host}/{owner}/{repo}/pulls/{number}/comments/anonymous',
        'pulls/1/comments/anonymous',
        /comments$/,
      ],
    ];
    for (const [operation, end, hostPath] of operations) {
      await api.expect(403, operation, `/v1/gh/octo/closed/${end}`, json(person, TEXTS));
      // As often as a call is made; the account is to be free again for the next one.
      const answer = { status: 429, headers: { 'retry-after': '1' } };
      bed.sandbox.faults.inject({ method: 'POST', path: hostPath, times: 3, answer });
      await api.expect(503, operation, `/v1/gh/octo/hello/${end}`, json(person, TEXTS));
      const cut = { during: 'request', afterBytes: 0 } as const;
      bed.sandbox.faults.inject({ method: 'POST', path: hostPath, times: 9, cut });
      await api.expect(502, operation, `/v1/gh/octo/hello/${end}`, json(person, TEXTS));
      bed.sandbox.faults.clear();
    }
  });

  it('of a vulnerability for the maintainers alone are answered as described', async () => {
    const person = bed.person();
    const operation = 'POST /v1/{host}/{owner}/{repo}/security/anonymous';
    await bed.createUpstream({ name: 'private', takesPrivateReports: true });
    const end = '/v1/gh/octo/private/security/anonymous';
    const report = { summary: 'Title', description: 'Words', severity: 'low' };
    const key = { 'Idempotency-Key': crypto.randomUUID() };
    await api.expect(200, operation, end, json(person, report, key));
    await api.expect(422, operation, end, json(person, { ...report, severity: 'high' }, key));
    await api.expect(400, operation, end, json(person, TEXTS));
    await api.expect(413, operation, end, json(person, LARGE));
    await api.expect(403, operation, '/v1/gh/octo/hello/security/anonymous', json(person, report));
    const answer = { status: 429, headers: { 'retry-after': '1' } };
    bed.sandbox.faults.inject({ method: 'POST', path: /\/reports$/, times: 3, answer });
    await api.expect(503, operation, end, json(person, report));
    const cut = { during: 'request', afterBytes: 0 } as const;
    bed.sandbox.faults.inject({ method: 'POST', path: /\/reports$/, times: 9, cut });
    await api.expect(502, operation, end, json(person, report));
    bed.sandbox.faults.clear();
  });

  it('of a reported pseudonym are answered as described, and so are the reports', async () => {
    const reports = '/v1/moderation/report';
    const author = bed.person();
    const first = await api.expect(200, issues, path, json(author, TEXTS));
    const { hash, number, user_token } = first as { hash: string; number: number; user_token: string };
    const say = json(author, { body: 'again', user_token });
    for (let count = 1; count <= 6; count++) {
      await api.expect(200, `POST ${reports}`, reports, json(bed.person(), { hash }));
      for (const thread of count === 3 || count === 6 ? ['issues', 'pulls'] : []) {
        const comments = `POST /v1/{host}/{owner}/{repo}/${thread}/{number}/comments/anonymous`;
        const own = `/v1/gh/octo/hello/${thread}/${number}/comments/anonymous`;
        await api.expect(count === 3 ? 429 : 403, comments, own, say);
      }
    }
    for (const accept of ['application/json', 'text/html']) {
      const headers = { Accept: accept };
      await api.expect(200, `GET ${reports}`, `${reports}?hash=${hash}`, { headers });
      await api.expect(400, `GET ${reports}`, `${reports}?hash=nobody`, { headers });
      await api.expect(400, `POST ${reports}`, reports, { headers, body: 'hash=nobody' });
      const crossSite = { ...headers, 'Sec-Fetch-Site': 'cross-site' };
      await api.expect(403, `POST ${reports}`, reports, { headers: crossSite, body: `hash=${hash}` });
      await api.expect(413, `POST ${reports}`, reports, { headers, body: 'x'.repeat(16 * 1024 + 1) });
    }
    const appeals = '/v1/moderation/appeal';
    const appeal = { thread: `octo/hello#${number}`, user_token, text: 'Please' };
    await api.expect(200, `POST ${appeals}`, appeals, json(author, appeal));
    await api.expect(429, `POST ${appeals}`, appeals, json(author, appeal));
    await api.expect(400, `POST ${appeals}`, appeals, json(author, { ...appeal, text: '' }));
    await api.expect(409, `POST ${appeals}`, appeals, json(author, { ...appeal, user_token: 'another' }));
    await api.expect(413, `POST ${appeals}`, appeals, json(author, LARGE));
    const foreign = { headers: { 'Sec-Fetch-Site': 'cross-site' }, body: JSON.stringify(appeal) };
    await api.expect(403, `POST ${appeals}`, appeals, foreign);

    const busy = bed.person();
    for (let count = 0; count < 30; count++) {
      await api.expect(200, `POST ${reports}`, reports, json(busy, { hash }));
    }
    await api.expect(429, `POST ${reports}`, reports, json(busy, { hash }));
  });
});

describe('the operator', exhaustive, () => {
  it('is answered as described: pardon', async () => {
    const [operation, path] = ['POST /admin/pardon', '/admin/pardon'];
    const person = bed.person();
    const issues = 'POST /v1/{host}/{owner}/{repo}/issues/anonymous';
    const issue = json(person, { title: 'Title', body: 'Words' });
    const { hash } = (await api.expect(200, issues, '/v1/gh/octo/hello/issues/anonymous', issue)) as {
      hash: string;
    };
    const body = { password: PASSWORD, hash };
    await api.expect(404, operation, path, json(person, body));
    await api.expect(
      200,
      'POST /v1/moderation/report',
      '/v1/moderation/report',
      json(bed.person(), { hash }),
    );
    await api.expect(200, operation, path, json(person, body));
    await api.expect(401, operation, path, json(person, { ...body, password: 'wrong' }));
    await api.expect(400, operation, path, json(person, { ...body, hash: 'no' }));
    await api.expect(413, operation, path, json(person, LARGE));
    for (let count = 5; count < 10; count++) await api.expect(200, operation, path, json(person, body));
    await api.expect(429, operation, path, json(person, body));
  });

  it.each(['panic', 'rollback', 'drain', 'test-alert'])('is answered as described: %s', async (action) => {
    const operation = `POST /admin/${action}`;
    const path = `/admin/${action}`;
    const body = { password: PASSWORD, active: false };
    const person = bed.person();
    await api.expect(200, operation, path, json(person, body));
    await api.expect(401, operation, path, json(person, { ...body, password: 'wrong' }));
    await api.expect(400, operation, path, json(person, '['));
    await api.expect(413, operation, path, json(person, LARGE));
    const limit = action === 'rollback' ? 5 : 10;
    for (let count = 4; count < limit; count++) await api.expect(200, operation, path, json(person, body));
    await api.expect(429, operation, path, json(person, body));
  });
});

/** Announces a body that is never sent: the answer comes at once. */
async function announce(operation: string, end: string, type: string, bytes: number): Promise<void> {
  const headers = { 'Content-Type': type, 'Content-Length': String(bytes), Expect: '100-continue' };
  const answer = await send(`${upstream.url}/${end}`, { method: 'POST', headers });
  const answerType = String(answer.headers['content-type']).split(';')[0] ?? null;
  const template = operation.slice('POST '.length);
  api.check({
    method: 'POST',
    template,
    status: answer.status,
    type: answerType,
    code: (answer.headers['x-error-code'] as string | undefined) ?? null,
    text: answer.body.toString(),
  });
  expect(answer.status).toBe(413);
}

describe('the Git remote', exhaustive, () => {
  const remote = '/v1/{host}/{owner}/{repo}';
  const path = '/v1/gh/octo/hello';

  it('is discovered as described', async () => {
    await api.expect(200, `GET ${remote}`, path);
    await api.expect(200, `GET ${remote}`, path, { headers: { Accept: 'text/html' } });
    await api.expect(400, `GET ${remote}`, '/v1/gh/octo/a..b');
    const discovery = `GET ${remote}/info/refs`;
    await bed.createUpstream({ name: 'old' });
    bed.renameUpstream(await bed.createUpstream({ name: 'before' }), 'after');
    for (const service of ['git-receive-pack', 'git-upload-pack']) {
      await api.expect(200, discovery, `${path}/info/refs?service=${service}`);
      await api.expect(301, discovery, `/v1/gh/octo/before/info/refs?service=${service}`);
      await api.expect(404, discovery, `/v1/gh/octo/nowhere/info/refs?service=${service}`);
      const cut = { during: 'request', afterBytes: 0 } as const;
      bed.sandbox.faults.inject({ path: /octo\/old/, times: 9, cut });
      await api.expect(502, discovery, `/v1/gh/octo/old/info/refs?service=${service}`);
      bed.sandbox.faults.clear();
    }
    // What else the host says of a fetch is passed on.
    bed.sandbox.faults.inject({ path: /octo\/old/, answer: { status: 504 } });
    await api.expect(504, discovery, '/v1/gh/octo/old/info/refs?service=git-upload-pack');
    await api.expect(400, discovery, `${path}/info/refs`);
  });

  it('takes requests as described', async () => {
    const services = [
      ['git-receive-pack', RECEIVE_PACK, 101],
      ['git-upload-pack', 'application/x-git-upload-pack-request', 51],
    ] as const;
    for (const [service, type, tooManyMiB] of services) {
      const operation = `POST ${remote}/${service}`;
      const headers = { 'Content-Type': type };
      await api.expect(200, operation, `${path}/${service}`, { headers, body: '0000' });
      await api.expect(400, operation, `/v1/gh/octo/a..b/${service}`, { headers, body: '0000' });
      await api.expect(415, operation, `${path}/${service}`, { body: '0000' });
      await announce(operation, service, type, tooManyMiB * 1024 * 1024);
    }
    const fetching = { headers: { 'Content-Type': 'application/x-git-upload-pack-request' }, body: '0000' };
    await api.expect(404, `POST ${remote}/git-upload-pack`, '/v1/gh/octo/nowhere/git-upload-pack', fetching);
    bed.sandbox.faults.inject({ path: /upload-pack$/, answer: { status: 504 } });
    await api.expect(504, `POST ${remote}/git-upload-pack`, `${path}/git-upload-pack`, fetching);
    bed.sandbox.faults.inject({ path: /upload-pack$/, cut: { during: 'request', afterBytes: 0 } });
    await api.expect(502, `POST ${remote}/git-upload-pack`, `${path}/git-upload-pack`, fetching);
  });
});

it('a webhook is answered as described', exhaustive, async () => {
  const operation = 'POST /v1/hooks/github';
  const deliver = (status: number, body: string, secret = WEBHOOK_SECRET) => {
    const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
    return api.expect(status, operation, '/v1/hooks/github', {
      body,
      headers: { 'X-Hub-Signature-256': signature },
    });
  };
  await deliver(204, '{}');
  await deliver(400, 'payload=');
  await deliver(401, '{}', 'another secret');
  await deliver(413, 'x'.repeat(1024 * 1024 + 1));
});

it('the doors beside it take requests as described', exhaustive, async () => {
  for (const door of ['bundle', 'patch']) {
    const operation = `POST /v1/{host}/{owner}/{repo}/${door}`;
    const path = `/v1/gh/octo/hello/${door}`;
    for (const Accept of ['text/plain', 'application/json']) {
      const contribution = { upstream, clone: await bed.person().copy(upstream) };
      const { clone } = contribution;
      await clone.commit();
      const make =
        door === 'bundle'
          ? ['bundle', 'create', '-', 'origin/main..HEAD']
          : ['format-patch', '--stdout', 'origin/main'];
      const body = await clone.person.mustGit(clone.path, make);
      const headers = { ...clone.person.headers, Accept };
      await api.expect(200, operation, `${path}?preview`, { headers, body });
      await api.expect(200, operation, path, { headers, body });
      await api.expect(400, operation, path, { headers, body: 'nothing' });
      const foreign = { ...headers, 'Sec-Fetch-Site': 'cross-site' };
      await api.expect(403, operation, path, { headers: foreign, body });
    }
    await announce(operation, door, 'application/octet-stream', 101 * 1024 * 1024);
  }
});

describe('the description', exhaustive, () => {
  it('has no fault that a linter sees', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lintFromString({ source: api.text, config });
    expect(problems.map(({ ruleId, location }) => `${ruleId} ${location[0]?.pointer ?? ''}`)).toEqual([]);
    // Those rules of another linter (spectral:oas) that this one lacks.
    const { info, paths } = JSON.parse(api.text) as {
      info: { contact?: { url?: string } };
      paths: Record<string, Record<string, { description?: string }>>;
    };
    expect(info.contact?.url).toMatch(/^https:/);
    const undescribed = Object.entries(paths).filter(([, operations]) =>
      Object.values(operations).some(({ description = '' }) => description === ''),
    );
    expect(undescribed.map(([path]) => path)).toEqual([]);
  });
});

afterAll(() => {
  expect(api.unseen.filter((what) => !ELSEWHERE.some((pattern) => pattern.test(what)))).toEqual([]);
});
