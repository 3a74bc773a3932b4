/**
 * Vulnerabilities reported to the maintainers alone: by the form and as JSON, to the embedded host.
 * Nothing of a report is public, counted, logged or kept.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TOKEN_NOT_ACCESSIBLE } from '../../../sandbox/known-answers.ts';
import { FormClient, typedIn, wordsOf } from '../support/form-client.ts';
import { Operator, OPERATOR } from '../support/operator.ts';
import { speak } from '../support/speak.ts';
import { filesWith } from '../support/state-files.ts';
import { type UpstreamOptions, useOwnTestBed } from '../support/test-bed.ts';
import type { Upstream } from '../support/upstream.ts';
import { exhaustive } from '../../support/exhaustive.ts';

/** Words that no other text has. */
const MARKED = 'xyzzyplugh';
const KEY = 'key-of-the-operator';

const bed = useOwnTestBed({ env: { ...OPERATOR, PRIVATE_REPORTS: 'account', SERVICE_API_KEY: KEY } });

const open = (more: UpstreamOptions = {}) => bed.createUpstream({ takesPrivateReports: true, ...more });
const pathOf = ({ fullName }: Upstream): string => `/v1/gh/${fullName}/security`;
const clientOf = () => new FormClient(bed.service.url, bed.person());
const reportsTo = ({ owner, name }: Upstream) => bed.sandbox.maintainer.privateReports(owner, name);
const hasFields = ({ html }: { html: string }): boolean => html.includes('<textarea');

const TYPED = {
  summary: `It opens doors ${MARKED}`,
  description: `Knock **twice** at ${MARKED}.`,
  severity: 'high',
  ecosystem: 'npm',
  package: `pack-${MARKED}`,
  vulnerable_version_range: '< 2.0',
  patched_versions: '2.0',
  cwe_ids: 'cwe-79, CWE-89',
};

async function formOf(upstream: Upstream, client = clientOf()) {
  const page = await client.get(pathOf(upstream));
  const send = (more: Readonly<Record<string, string>> = {}) =>
    client.post(pathOf(upstream), { ...page.fields, ...TYPED, step: 'post', ...more });
  return { page, send };
}

const sendJson = (upstream: Upstream, more: object = {}) => {
  const report = { summary: `S ${MARKED}`, description: `D ${MARKED}`, severity: 'low', ...more };
  return speak(bed, bed.person(), `${pathOf(upstream)}/anonymous`, report);
};

describe('a report by the form', () => {
  it('is shown before it is sent, goes to the maintainers alone, and is sent once', async () => {
    const upstream = await open();
    const { page, send } = await formOf(upstream);
    expect([page.status, page.problem, hasFields(page)]).toEqual([200, '', true]);
    expect(wordsOf(page)).toContain(`${upstream.fullName} takes private reports.`);
    expect(wordsOf(page)).toContain('An issue is public');
    const preview = await send({ step: 'preview' });
    expect(preview.heading).toBe('Preview of the report');
    expect(wordsOf(preview)).toContain(`pack-${MARKED} (npm)`);
    expect(preview.html).toContain(`Knock <strong>twice</strong> at ${MARKED}.`);
    expect(wordsOf(preview)).toContain('Its author sees no reply.');
    expect(reportsTo(upstream)).toEqual([]);
    const edited = await send({ ...preview.fields, step: 'edit' });
    expect(typedIn(edited.html, 'description')).toBe(TYPED.description);
    const sent = await send();
    expect([sent.status, sent.heading]).toEqual([200, 'Your report was sent']);
    const [report, ...others] = reportsTo(upstream);
    expect(others).toEqual([]);
    expect(sent.html).toContain(`value="${report?.ghsaId}"`);
    expect(wordsOf(sent)).toContain('none come back here');
    expect(report).toMatchObject({
      author: bed.sandbox.botLogin,
      summary: TYPED.summary,
      severity: 'high',
      cweIds: ['CWE-79', 'CWE-89'],
      vulnerabilities: [
        { ecosystem: 'npm', name: `pack-${MARKED}`, vulnerableVersionRange: '< 2.0', patchedVersions: '2.0' },
      ],
    });
    const again = await send();
    expect([again.status, again.heading]).toEqual([409, 'Sent before']);
    expect(reportsTo(upstream)).toHaveLength(1);
  });

  it('is told of a name, an address and an upload in it, and is sent as it is', async () => {
    const upstream = await open();
    const { send } = await formOf(upstream);
    const description =
      'By Zoe Quist: https://github.com/user-attachments/assets/0123-4567 or zq@quist.example';
    const preview = await send({ description, own_name: 'Zoe Quist', step: 'preview' });
    expect(wordsOf(preview)).toContain('description: By Zoe Quist');
    expect(wordsOf(preview)).toContain('Files were uploaded at a code host, which knows by whose account:');
    expect(preview.problem).toContain('zq@quist.example');
    expect((await send({ ...preview.fields, step: 'post' })).heading).toBe('Your report was sent');
    expect(reportsTo(upstream)[0]?.description).toContain(description);
    expect(JSON.stringify(reportsTo(upstream))).not.toContain('own_name');
  });

  it('whose answer was lost is not sent again until someone asks for it', async () => {
    const upstream = await open();
    const { send } = await formOf(upstream);
    const cut = { during: 'answer', afterBytes: 0 } as const;
    bed.sandbox.faults.inject({ method: 'POST', path: /\/reports$/, cut });
    const lost = await send();
    expect([lost.status, lost.problem]).toEqual([502, expect.stringMatching(/may have arrived/)]);
    expect(typedIn(lost.html, 'summary')).toBe(TYPED.summary);
    expect((await send()).status).toBe(409);
    expect(reportsTo(upstream)).toHaveLength(1);
    // The page that says so is a new form.
    expect((await send({ token: lost.fields['token'] ?? '' })).heading).toBe('Your report was sent');
    expect(reportsTo(upstream)).toHaveLength(2);
  });

  it('of a page of another site is refused', async () => {
    const upstream = await open();
    const client = clientOf();
    const { fields } = await client.get(pathOf(upstream));
    const foreign = { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.test' };
    const answer = await client.post(pathOf(upstream), { ...fields, ...TYPED, step: 'post' }, foreign);
    expect(answer.status).toBe(403);
    const json = await fetch(`${bed.service.url}${pathOf(upstream)}/anonymous`, {
      method: 'POST',
      headers: { 'Content-Type': 'text/plain', Origin: 'https://evil.test' },
      body: JSON.stringify({ summary: 'S', description: 'D', severity: 'low' }),
    });
    expect([json.status, await json.json()]).toEqual([
      403,
      { error: 'a page of another site must send this as application/json' },
    ]);
    expect(reportsTo(upstream)).toEqual([]);
  });
});

describe('before anybody types', () => {
  it('the form says what SECURITY.md asks for, as text', async () => {
    const upstream = await open();
    await upstream.grow({ files: { '.github/SECURITY.md': 'Mail <script>alert(1)</script> us.\u202e\n' } });
    const { page } = await formOf(upstream);
    expect(page.html).toMatch(/Mail &lt;script&gt;alert\(1\)&lt;\/script&gt; us\.\[U\+202E\]/);
    expect(page.html).toContain(`/${upstream.fullName}/blob/HEAD/.github/SECURITY.md`);
    expect(hasFields(page)).toBe(true);
  });

  it('it shows the file of the owner, where the repository has none, and only its beginning', async () => {
    const owners = await bed.createUpstream({ owner: 'mona', name: '.github' });
    await owners.grow({ files: { 'SECURITY.md': `Write to us. ${'x'.repeat(20_000)}end\n` } });
    const { page } = await formOf(await open({ owner: 'mona' }));
    expect(wordsOf(page)).toContain('Write to us. xxx');
    expect(wordsOf(page)).not.toContain('xend');
    expect(wordsOf(page)).toContain('It goes on: read all of SECURITY.md');
  });

  it.each<[what: string, files: Readonly<Record<string, string>>, options: UpstreamOptions, why: RegExp]>([
    ['is off', {}, { takesPrivateReports: false }, /takes no private reports: its maintainers/],
    ['accepts nothing', { '.gitveil.yml': 'accept: false\n' }, {}, /accepts nothing from this service/],
    ['has a broken policy', { '.gitveil.yml': 'acept: true\n' }, {}, /accepts nothing until its maintainers/],
  ])('a repository that %s has no form, and gets nothing', async (_, files, options, why) => {
    const upstream = await open(options);
    await upstream.grow({ files: { 'SECURITY.md': 'Call us.\n', ...files } });
    const { page, send } = await formOf(upstream);
    expect([hasFields(page), page.problem]).toEqual([false, expect.stringMatching(why)]);
    expect(wordsOf(page)).toContain('Call us.');
    expect((await sendJson(upstream)).status).toBe(403);
    expect((await send()).status).toBe(403);
    expect(reportsTo(upstream)).toEqual([]);
  });

  it('a repository that takes pull requests alone still takes reports', async () => {
    const upstream = await open();
    await upstream.grow({ files: { '.gitveil.yml': 'accept: [pull_requests]\n' } });
    expect((await sendJson(upstream)).status).toBe(200);
  });

  it('what the host does not say is asked again when it is sent', async () => {
    const upstream = await open();
    const answer = { status: 500 };
    bed.sandbox.faults.inject({ method: 'GET', path: /-reporting$/, times: 3, answer });
    const { page, send } = await formOf(upstream);
    expect(wordsOf(page)).toContain('is not known now. Sending asks again.');
    bed.sandbox.faults.clear();
    expect((await send()).heading).toBe('Your report was sent');
  });

  it('a missing repository is told', async () => {
    const page = await clientOf().get('/v1/gh/octo/nowhere/security');
    expect([hasFields(page), page.problem]).toEqual([
      false,
      expect.stringContaining('has no public repository octo/nowhere'),
    ]);
  });

  it('its paths at the code host lead to the form', async () => {
    const upstream = await open();
    for (const end of ['/policy', '/advisories/new']) {
      const { status, headers } = await fetch(`${bed.service.url}${pathOf(upstream)}${end}`, {
        redirect: 'manual',
      });
      expect([status, headers.get('location')]).toEqual([302, pathOf(upstream)]);
    }
  });
});

it('a token that may not report is told, and nothing is repeated', async () => {
  const upstream = await open();
  const { send } = await formOf(upstream);
  bed.sandbox.faults.inject({ method: 'POST', path: /\/reports$/, answer: TOKEN_NOT_ACCESSIBLE });
  const answer = await send();
  expect([answer.status, answer.problem]).toEqual([
    400,
    expect.stringContaining('says: Resource not accessible by personal access token'),
  ]);
  expect(reportsTo(upstream)).toEqual([]);
  expect((await send()).heading).toBe('Your report was sent');
});

it('leaves nothing behind: no word in a file or a line, no figure, no thread, no notification', async () => {
  const upstream = await open();
  const figures = async () => {
    const headers = { 'X-Service-Key': KEY, Accept: 'text/plain' };
    const [stats, metrics] = await Promise.all(
      ['/api/stats', '/metrics'].map(async (path) =>
        (await fetch(bed.service.url + path, { headers })).text(),
      ),
    );
    return { stats, metrics };
  };
  const { stats } = await figures();
  const logged = bed.logLines.length;
  const { status, body } = await sendJson(upstream);
  expect(status).toBe(200);
  const { page, send } = await formOf(upstream);
  expect(page.status).toBe(200);
  expect((await send()).heading).toBe('Your report was sent');
  const after = await figures();
  expect(after.stats).toBe(stats);
  expect(after.metrics).not.toContain('/security');
  const lines = () => bed.logLines.slice(logged).map((line) => line.replace(/^\S+ /, ''));
  // The line of a report before these may come late.
  await expect.poll(() => lines().length).toBeGreaterThanOrEqual(2);
  expect([...new Set(lines())]).toEqual(['info a private report was sent']);
  for (const text of [MARKED, String(body['report_id']), ...reportsTo(upstream).map(({ ghsaId }) => ghsaId)])
    expect(filesWith(bed.stateDir, text)).toEqual([]);
  expect(await bed.host.call('GET', `/repos/${upstream.fullName}/issues?state=all`)).toEqual([]);
  expect(await bed.host.call('GET', '/notifications?all=true')).toEqual([]);
});

describe('with PRIVATE_REPORTS=app', exhaustive, () => {
  const SLUG = 'veil-app';
  const PERMISSIONS = { repository_advisories: 'write', metadata: 'read' } as const;

  beforeAll(async () => {
    const { id, key } = bed.sandbox.apps.register({ slug: SLUG, permissions: PERMISSIONS });
    const app = { GITHUB_APP_ID: String(id), GITHUB_APP_KEY: key, PRIVATE_REPORTS: 'app' };
    await bed.restart(undefined, app);
  });
  afterAll(() => bed.restart());

  it('the App reports where it is installed, and may', async () => {
    const upstream = await open({ owner: 'invited' });
    bed.sandbox.apps.install('invited', null);
    const { page, send } = await formOf(upstream);
    expect(wordsOf(page)).toContain('the GitHub App that sends it');
    expect((await send()).heading).toBe('Your report was sent');
    expect(reportsTo(upstream)).toMatchObject([{ author: `${SLUG}[bot]` }]);
  });

  it('nobody reports where it is not: the form says so, and nothing is the account’s', async () => {
    const upstream = await open();
    const { page, send } = await formOf(upstream);
    const words = /does not let this service's GitHub App report vulnerabilities/;
    expect([hasFields(page), page.problem]).toEqual([false, expect.stringMatching(words)]);
    expect((await send()).status).toBe(403);
    expect(reportsTo(upstream)).toEqual([]);
  });
});

it('stops while anything is suspended, and a burst is told by its number alone', async () => {
  const operator = new Operator(bed);
  const upstream = await open();
  for (let count = 0; count < 5; count++) expect((await sendJson(upstream)).status).toBe(200);
  const burst = async () =>
    (await operator.alerts()).find(({ title }) => title === 'Burst of private reports');
  await expect.poll(burst).toBeDefined();
  const alert = await burst();
  expect(alert?.message).toMatch(/private reports of vulnerabilities were sent from \d+ distinct IPs/);
  expect(JSON.stringify(alert)).not.toMatch(new RegExp(`${MARKED}|${upstream.name}|GHSA`));
  expect(alert?.actions?.map(({ label }) => label)).toEqual(['Suspend comments', 'Allow comments']);
  await operator.press(alert!, 'Suspend comments');
  await expect.poll(async () => (await sendJson(upstream)).status).toBe(503);
  const { page } = await formOf(upstream);
  expect([hasFields(page), page.problem]).toEqual([
    false,
    'Private reports are suspended; try again in 15 minutes.',
  ]);
  await operator.press(alert!, 'Allow comments');
  await operator.setPanic(true);
  await expect.poll(async () => (await sendJson(upstream)).status).toBe(503);
  await operator.setPanic(false);
});
