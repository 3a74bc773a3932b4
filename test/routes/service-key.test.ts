/** SERVICE_API_KEY: which endpoints ask for it, and how they answer (contract, section 5). */
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import type { Env } from '../../src/env.ts';
import worker from '../../src/worker.ts';

const bindings = env as unknown as Env;
const KEY = 'a-key-of-the-operator';

async function ask(path: string, key?: string, variables: object = { SERVICE_API_KEY: KEY }) {
  const headers = key === undefined ? {} : { 'X-Service-Key': key };
  const request = new Request(`https://gitveil.test${path}`, { headers });
  return worker.fetch(request, { ...bindings, ...variables });
}

describe('with a service key', () => {
  const keyed = ['/api/stats', '/api/recent-prs', '/api/pr-status/0123456789ab', '/metrics'];

  it.each(keyed)('%s refuses who does not send it', async (path) => {
    for (const key of [undefined, '', 'wrong', KEY.slice(1), `${KEY}x`]) {
      const response = await ask(path, key);
      expect(response.status).toBe(401);
      expect(await response.json()).toMatchObject({ error: 'API key required' });
      expect(response.headers.get('Cache-Control')).toBe('no-store');
    }
  });

  it.each(keyed)('%s lets in who sends it, and anyone when there is none', async (path) => {
    expect((await ask(path, KEY)).status).not.toBe(401);
    expect((await ask(path, undefined, {})).status).not.toBe(401);
  });

  it.each([
    '/',
    '/health',
    '/api/status',
    '/badges/deployed.svg',
    '/badge/octo/hello',
    '/v1/gh/octo/hello',
    '/v1/moderation/report?hash=0123abcd',
    '/openapi.json',
    '/docs',
  ])('%s is public', async (path) => {
    expect((await ask(path)).status).not.toBe(401);
  });
});
