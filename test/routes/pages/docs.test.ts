/**
 * GET /docs, a file that `npm run documents` makes, shows what /openapi.json says. In a browser:
 * test/browser/pages.test.ts.
 */
import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Env } from '../../../src/env.ts';
import worker from '../../../src/worker.ts';

const ask = async (path: string, settings: Record<string, string> = {}) =>
  worker.fetch(new Request(`https://gitveil.test${path}`), { ...(env as unknown as Env), ...settings });

let text: string;
let paths: string[];

beforeAll(async () => {
  const page = await ask('/docs');
  expect(page.headers.get('Content-Type')).toMatch(/^text\/html/);
  expect(page.headers.get('Content-Security-Policy')).not.toContain('unsafe');
  // As a person reads it.
  text = (await page.text())
    .replaceAll(/<style>.*?<\/style>/gs, '')
    .replaceAll('<wbr />', '')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll(/\s+/g, ' ');
  const description = await (await ask('/openapi.json')).json<{ paths: Record<string, object> }>();
  paths = Object.keys(description.paths);
});

describe('the page', () => {
  it('names every path: if not, run `npm run documents`', () => {
    expect(paths.filter((path) => !text.includes(` ${path} `))).toEqual([]);
  });

  it('shows fields of requests and answers, also inner ones', () => {
    expect(text).toContain('user_token string or null no The token of an earlier comment');
    expect(text).toContain('memory.total_alloc integer yes Bytes of all such buffers so far.');
    expect(text).toContain('prs[].pr_url address yes The pull request on the code host.');
  });

  it('shows what errors say', () => {
    expect(text).toContain(
      '429 The pseudonym must wait, the client or all clients together have posted too much, or little is left to the bot account.',
    );
    expect(text).toContain('cooldown activo por reportes');
    expect(text).toContain(
      '401 The service has a key, and the request did not contain it. application/json API key required',
    );
  });

  it('shows the limits of this service', async () => {
    const own = await ask('/docs', { LIMIT_LOOKUPS: '7/1m' });
    expect(await own.text()).toContain('<td>7 in 1m</td>');
    expect(text).toContain('new pull requests 5 in 1h fixed');
    expect(text).toContain('comments and issues 60 in 1m and 240 in 1h LIMIT_COMMENTS');
    expect(text).toContain('comments on one thread, for all clients together 240 in 1h LIMIT_THREAD');
  });

  it('has commands that can be tried', () => {
    expect(text).toContain(
      `curl 'https://gitveil.test/v1/gh/octo/hello/issues/1/comments/anonymous' -H 'Content-Type: application/json' \\ -d '{"body":"Thanks!"}'`,
    );
    // Without it a terminal would show a page.
    expect(text).toContain(
      `curl 'https://gitveil.test/v1/moderation/report?hash=1a2b3c4d' -H 'Accept: application/json'`,
    );
    expect(text).toContain(
      `-d '{"password":"<password>","active":true}'`.replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
    );
    expect(text).toContain(`curl 'https://gitveil.test/api/stats' -H 'X-Service-Key:`);
  });
});
