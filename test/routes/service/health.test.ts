/**
 * GET /health, and what the Worker answers around the routes: unknown paths, bad configuration,
 * failures.
 */
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Env } from '../../../src/env.ts';
import worker from '../../../src/worker.ts';

const bindings = env as unknown as Env;

function get(path: string, variables: Record<string, unknown> = {}): Promise<Response> {
  return Promise.resolve(
    worker.fetch(new Request(`https://gitveil.test${path}`), { ...bindings, ...variables }),
  );
}

describe('GET /health', () => {
  it('tells the hash of the bundle in a header if the deployment does', async () => {
    const BUNDLE_HASH = 'ab'.repeat(32);
    const response = await get('/health', { BUNDLE_HASH });
    expect(response.headers.get('X-Bundle')).toBe(BUNDLE_HASH);
    const { verify } = await response.json<{ verify: object }>();
    expect(Object.keys(verify)).toEqual(['github', 'source']);
    expect((await get('/health')).headers.has('X-Bundle')).toBe(false);
  });

  it('says main and unknown when the deployment tells nothing', async () => {
    const response = await get('/health', { VERSION: { id: '', tag: '', timestamp: '' } });
    expect(await response.json()).toMatchObject({ deployedCommit: 'main', deployedAt: 'unknown' });
  });

  it('links to the commit itself where the tree had changes', async () => {
    const response = await get('/health', {
      COMMIT_HASH: 'c0ffee-dirty',
      SOURCE_REPO: 'https://example.org/o/r',
    });
    expect(await response.json()).toMatchObject({
      deployedCommit: 'c0ffee-dirty',
      verify: { github: 'https://example.org/o/r/commit/c0ffee' },
    });
  });

  it('is true for platform on the official instance only', async () => {
    const response = await get('/health', { OFFICIAL_INSTANCE: 'true' });
    expect(await response.json()).toMatchObject({ platform: true });
  });
});

describe('the Worker', () => {
  const lines: string[] = [];
  beforeEach(() => {
    vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
  });
  afterEach(() => {
    vi.restoreAllMocks();
    lines.length = 0;
  });

  it('serves nothing with a bad configuration, and says which variable it is', async () => {
    const response = await get('/health', { READ_TIMEOUT: '30sec', HOSTING_TOKEN: 'bad token' });
    expect(response.status).toBe(500);
    const { error } = await response.json<{ error: string }>();
    expect(error).toContain('READ_TIMEOUT must be a duration such as 30s');
    expect(error).toContain('HOSTING_TOKEN must be');
    expect(error).not.toContain('bad token');
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      {
        level: 'error',
        message: 'configuration is invalid',
        privacy: 'anonymized',
        variable: 'HOSTING_TOKEN',
      },
      { variable: 'READ_TIMEOUT' },
    ]);
  });

  it('warns once when only half of the hosted database is configured, and names the other half', async () => {
    const variables = { ...bindings, DB_KEY: 'hunter2' };
    for (let times = 0; times < 2; times++) {
      await worker.fetch(new Request('https://gitveil.test/health'), variables);
    }
    expect(lines).toEqual([expect.stringMatching(/ warn configuration is incomplete variable=DB_URL$/)]);
  });

  it('hides the cause of a failure from the client and the person from the log', async () => {
    const response = await get('/health', { VERSION: undefined });
    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({ error: 'internal server error' });
    expect(lines).toEqual([expect.stringMatching(/ error request failed error=TypeError$/)]);
  });
});
