/** GET /privacy, GET /maintainers and GET /docs: texts of files, in which the service fills in what it knows. */
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import type { Env } from '../../../src/env.ts';
import worker from '../../../src/worker.ts';

const bindings = env as unknown as Env;

async function get(path: string, settings: Record<string, string> = {}): Promise<string> {
  const variables = { ...bindings, SOURCE_REPO: 'https://code.test/veil', ...settings };
  const response = await worker.fetch(new Request(`https://veil.test${path}`), variables);
  expect([response.status, response.headers.get('Content-Type')]).toEqual([200, 'text/html; charset=UTF-8']);
  return response.text();
}

describe.each([
  ['/privacy', 'Who learns what'],
  ['/maintainers', 'Workflows: require approval'],
])('%s', (path, heading) => {
  it('has the document, and leads to the others where the code is', async () => {
    const page = await get(path);
    expect(page).toContain(`>${heading}</h2>`);
    expect(page).toMatch(/href="https:\/\/code\.test\/veil\/blob\/HEAD\/\w+/);
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
    if (path !== '/docs') expect(page).toContain('href="https://code.test/a&amp;b&#39;c/blob/HEAD/');
  });
});

it('shows badges that can be copied as they are', async () => {
  expect(await get('/maintainers')).toContain(
    '![Anonymous PRs](https://veil.test/badge/&lt;owner&gt;/&lt;repo&gt;)',
  );
});
