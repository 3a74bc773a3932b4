/** Private reports of vulnerabilities: where they are taken, and what GitHub refuses. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { call } from './support/host.ts';

const REPORTS = '/repos/octocat/hello/security-advisories/reports';
const REPORT = {
  summary: 'It opens doors',
  description: 'Knock <b>twice</b>.',
  severity: 'high',
  cwe_ids: ['CWE-79'],
  vulnerabilities: [{ package: { ecosystem: 'npm', name: 'doors' }, vulnerable_version_range: '< 2' }],
};
let host: Sandbox;

beforeAll(async () => {
  host = await startSandbox();
  host.createRepository({ owner: 'octocat', name: 'hello', takesPrivateReports: true });
  host.createRepository({ owner: 'octocat', name: 'deaf' });
  host.createRepository({ owner: 'octocat', name: 'old', archived: true, takesPrivateReports: true });
});

afterAll(() => host.close());

test('are taken where the maintainers say so', async () => {
  for (const [name, enabled] of [['hello', true] as const, ['deaf', false] as const]) {
    const { status, body } = await call(
      host,
      'GET',
      `/repos/octocat/${name}/private-vulnerability-reporting`,
    );
    expect([status, body]).toEqual([200, { enabled }]);
  }
  const off = await call(host, 'POST', '/repos/octocat/deaf/security-advisories/reports', REPORT);
  expect([off.status, off.body['message']]).toEqual([
    403,
    'Repository does not have private vulnerability reporting enabled',
  ]);
  const old = await call(host, 'POST', '/repos/octocat/old/security-advisories/reports', REPORT);
  expect(old.status).toBe(403);
});

test('have no page of their own, and are listed for the maintainers', async () => {
  const { status, body } = await call(host, 'POST', REPORTS, REPORT);
  expect([status, body['state']]).toEqual([201, 'triage']);
  const reports = host.maintainer.privateReports('octocat', 'hello');
  expect(reports.map(({ ghsaId }) => ghsaId)).toEqual([body['ghsa_id']]);
  expect((await fetch(String(body['html_url']))).status).toBe(404);
  // People who try the service act as the maintainers, on the page of the repository.
  const page = await (await fetch(`${host.url}/octocat/hello`)).text();
  expect(page).toContain(String(body['ghsa_id']));
  expect(page).toContain('Knock &lt;b&gt;twice&lt;/b&gt;.');
});

test.each<[string, object]>([
  ['no summary', { summary: '' }],
  ['no description', { description: undefined }],
  ['two ratings', { cvss_vector_string: 'CVSS:3.1/AV:N' }],
  ['no such severity', { severity: 'dire' }],
  ['no vector', { severity: null, cvss_vector_string: 'AV:N' }],
  ['no such ecosystem', { vulnerabilities: [{ package: { ecosystem: 'cpan' } }] }],
  ['no such weakness', { cwe_ids: ['XSS'] }],
])('are refused with %s', async (_, more) => {
  expect((await call(host, 'POST', REPORTS, { ...REPORT, ...more })).status).toBe(422);
});

test('without a package are a fault of the host, which says nothing', async () => {
  const answer = await fetch(host.apiUrl + REPORTS, {
    method: 'POST',
    headers: { authorization: `token ${host.botToken}` },
    body: JSON.stringify({ ...REPORT, vulnerabilities: [] }),
  });
  expect([answer.status, await answer.text()]).toEqual([500, '']);
});
