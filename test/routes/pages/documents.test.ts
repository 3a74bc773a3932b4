/**
 * GET /privacy, GET /maintainers and GET /docs: texts of files, in which the service fills in what
 * it knows.
 */
import { generateKeyPairSync } from 'node:crypto';
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import type { Env } from '../../../src/env.ts';
import worker from '../../../src/worker.ts';

const bindings = env as unknown as Env;

async function get(path: string, settings: Record<string, string> = {}): Promise<string> {
  const variables = { ...bindings, SOURCE_REPO: 'https://code.test/veil', ...settings };
  const headers = { Accept: 'text/html' };
  const response = await worker.fetch(new Request(`https://veil.test${path}`, { headers }), variables);
  expect([response.status, response.headers.get('Content-Type')]).toEqual([200, 'text/html; charset=UTF-8']);
  return response.text();
}

describe.each([
  ['/privacy', 'Who learns what'],
  ['/maintainers', 'How do I block one person?'],
])('%s', (path, heading) => {
  it('has the document, and leads to the others where the code is', async () => {
    const page = await get(path);
    expect(page).toContain(`>${heading}</h2>`);
    // The other has none.
    if (path === '/privacy') expect(page).toMatch(/href="https:\/\/code\.test\/veil\/blob\/HEAD\/\w+/);
    expect(page).not.toMatch(/<img|href="@|\.md\)|<script|&lt;!--/);
    const ids = new Set(Array.from(page.matchAll(/ id="([^"]+)"/g), ([, id]) => id));
    const fragments = Array.from(page.matchAll(/href="#([^"]+)"/g), ([, id]) => id);
    expect(fragments.filter((id) => !ids.has(id))).toEqual([]);
  });
});

describe.each(['/privacy', '/maintainers', '/docs'])('%s', (path) => {
  it('has nothing left to fill in, and escapes what was', async () => {
    const page = await get(path, {
      SOURCE_REPO: `https://code.test/a&b'c`,
      OPERATOR_CONTACT: 'mailto:a&b@example.org',
    });
    expect(page).not.toContain('{{');
    expect(page).not.toMatch(/a&b/);
    if (path === '/privacy') expect(page).toContain('href="https://code.test/a&amp;b&#39;c/blob/HEAD/');
  });
});

it('says that the service has no App, if it has none', async () => {
  expect(await get('/maintainers')).toContain(`The address of this service's: <code>none</code>`);
});

it('does not say that it has no App, while it does not know the address of its App', async () => {
  const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const GITHUB_APP_KEY = key.export({ type: 'pkcs8', format: 'pem' }).toString();
  const page = await get('/maintainers', { GITHUB_APP_ID: '7', GITHUB_APP_KEY });
  expect(page).toContain(
    `The address of this service's: <code>not known at the moment, ask the operator</code>`,
  );
});

it('shows badges that can be copied as they are', async () => {
  expect(await get('/maintainers')).toContain(
    '![Anonymous PRs](https://veil.test/badge/&lt;owner&gt;/&lt;repo&gt;)',
  );
});

it.each(['/privacy', '/maintainers'])('%s has an index of its sections', async (path) => {
  const page = await get(path);
  const [, index = ''] = /<nav class="card" aria-label="Contents">([^]*?)<\/nav>/.exec(page) ?? [];
  const sections = page.match(/<h2 /g) ?? [];
  expect(index.match(/<a href="#/g)).toHaveLength(sections.length);
});

it.each(['/privacy', '/maintainers'])('%s is Markdown in a terminal', async (path) => {
  const request = new Request(`https://veil.test${path}`, { headers: { Accept: '*/*' } });
  const response = await worker.fetch(request, { ...bindings, SOURCE_REPO: 'https://code.test/a&b' });
  expect([response.headers.get('Content-Type'), response.headers.get('Vary')]).toEqual([
    'text/plain; charset=UTF-8',
    'Accept',
  ]);
  const text = await response.text();
  expect(text).toMatch(/^\s*# [^]*\n## /);
  expect(text).not.toMatch(/\{\{|<!--|^!\[|&amp;|\]\((?!https:|#)/m);
  if (path === '/privacy') expect(text).toContain('https://code.test/a&b/blob/HEAD/');
});

const ask = (path: string) => worker.fetch(new Request(`https://veil.test${path}`), bindings);

it('has an icon, tells crawlers to leave out hashes, and says what a link to it leads to', async () => {
  const icon = await ask('/favicon.ico');
  expect([icon.status, icon.headers.get('Content-Type')]).toEqual([200, 'image/svg+xml']);
  expect(await icon.text()).toMatch(/^<svg /);
  expect(await (await ask('/robots.txt')).text()).toContain('User-agent: *\nDisallow: /v1/\n');
  expect(await get('/privacy')).toContain('<meta property="og:title" content="Privacy · gitveil" />');
});
