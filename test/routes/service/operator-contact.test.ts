/** OPERATOR_CONTACT: where people find out whom to write to. */
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import type { Env } from '../../../src/env.ts';
import worker from '../../../src/worker.ts';

const bindings = env as unknown as Env;
const OPERATOR_CONTACT = 'op+veil@example.org';
const MAILTO = 'mailto:op%2Bveil@example.org';

function get(path: string, variables: Record<string, string> = {}): Promise<Response> {
  const request = new Request(`https://veil.test${path}`, { headers: { Accept: 'text/html' } });
  return Promise.resolve(worker.fetch(request, { ...bindings, ...variables }));
}

async function pageAt(path: string, variables: Record<string, string> = {}): Promise<string> {
  return (await get(path, variables)).text();
}

describe('on pages', () => {
  it.each(['/', '/maintainers', '/privacy', '/docs', '/no/such/page'])(
    '%s names it in its footer',
    async (path) => {
      const page = await pageAt(path, { OPERATOR_CONTACT });
      const [footer = ''] = /<footer>.*<\/footer>/s.exec(page) ?? [];
      expect(footer).toContain(`<a href="${MAILTO}">${OPERATOR_CONTACT}</a>`);
      expect(await pageAt(path)).not.toContain('Operator:');
    },
  );

  it('/maintainers begins with it, and says if there is none', async () => {
    expect(await pageAt('/maintainers', { OPERATOR_CONTACT: 'https://example.org/me' })).toContain(
      'To reach the operator of this service: <a href="https://example.org/me">https://example.org/me</a>.',
    );
    expect(await pageAt('/maintainers')).toContain(
      'The operator of this service names no address to write to.',
    );
  });

  it('a page that is not there names it in its text', async () => {
    const response = await get('/no/such/page', { OPERATOR_CONTACT });
    expect(response.status).toBe(404);
    expect(await response.text()).toContain(`tell the operator: ${OPERATOR_CONTACT}`);
  });
});

describe('GET /.well-known/security.txt', () => {
  it('has the fields of RFC 9116, and expires', async () => {
    const response = await get('/.well-known/security.txt', {
      OPERATOR_CONTACT,
      SERVICE_URL: 'https://veil.test',
      SOURCE_REPO: 'https://example.org/o/r',
      SERVICE_API_KEY: 'k',
    });
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'text/plain;charset=UTF-8',
    ]);
    const lines = (await response.text()).split('\n');
    expect(lines).toEqual([
      `Contact: ${MAILTO}`,
      expect.stringMatching(/^Expires: \d{4}-\d\d-\d\dT00:00:00.000Z$/),
      'Policy: https://example.org/o/r/blob/HEAD/SECURITY.md',
      'Preferred-Languages: en',
      'Canonical: https://veil.test/.well-known/security.txt',
      '',
    ]);
    const days = (Date.parse(lines[1]!.slice('Expires: '.length)) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(170);
    expect(days).toBeLessThan(181);
  });

  it.each([
    ['that it does not know', {}],
    ['without TLS, which no reader trusts', { SERVICE_URL: 'http://veil.test' }],
  ])('claims no address %s', async (_, variables) => {
    const response = await get('/.well-known/security.txt', { OPERATOR_CONTACT, ...variables });
    expect(response.status).toBe(200);
    expect(await response.text()).not.toContain('Canonical');
  });

  it('is not there if there is nobody to write to', async () => {
    const response = await get('/.well-known/security.txt');
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      error: 'the operator of this service has set no OPERATOR_CONTACT',
    });
  });
});
