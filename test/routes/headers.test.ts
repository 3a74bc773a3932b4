/**
 * Headers that every answer carries for browsers: security headers, and CORS for programs in pages.
 */
import { createExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { Hono } from 'hono';
import { describe, expect, it, vi } from 'vitest';
import type { AppEnv, Env } from '../../src/env.ts';
import { securityHeaders } from '../../src/routes/middleware/browser-headers.ts';
import worker from '../../src/worker.ts';
import { exhaustive } from '../support/exhaustive.ts';

const bindings = env as unknown as Env;

async function ask(method: string, path: string, headers: Record<string, string> = {}): Promise<Response> {
  const request = new Request(`https://gitveil.test${path}`, { method, headers });
  return worker.fetch(request, { ...bindings }, createExecutionContext());
}

const THREAD = '/v1/gh/octo/hello/issues/1/comments/anonymous';
const PULL = '/v1/gh/octo/hello/pulls/1/comments/anonymous';
const FOR_PROGRAMS: [string, string][] = [
  ['GET', '/health'],
  ['GET', '/metrics'],
  ['GET', '/api/status'],
  ['GET', '/api/stats'],
  ['GET', '/api/recent-prs'],
  ['GET', '/api/pr-status/0123456789ab'],
  ['GET', '/openapi.json'],
  ['GET', '/v1/pr/0123456789ab'],
  ['POST', THREAD],
  ['POST', PULL],
  ['POST', '/v1/gh/octo/hello/issues/anonymous'],
  ['POST', '/v1/gh/octo/hello/security/anonymous'],
  ['POST', '/admin/panic'],
  ['POST', '/admin/pardon'],
  ['POST', '/admin/rollback'],
  ['POST', '/admin/drain'],
  ['GET', '/v1/gh/octo/hello/info/refs?service=none'],
  ['POST', '/v1/gh/octo/hello/git-receive-pack'],
  ['POST', '/v1/gh/octo/hello/git-upload-pack'],
];
const OTHERS: [string, string][] = [
  ['GET', '/'],
  ['GET', '/docs'],
  ['GET', '/v1/moderation/report?hash=0123abcd'],
  ['GET', '/v1/gh/octo/hello'],
  ['GET', '/v1/gh/octo/hello/new-issue'],
  ['GET', '/v1/gh/octo/hello/reply?to=1'],
  ['GET', '/v1/gh/octo/hello/withdraw'],
  ['POST', '/v1/gh/octo/hello/change'],
  ['GET', '/v1/gh/octo/hello/send-file'],
  ['POST', '/v1/gh/octo/hello/send-file'],
  ['GET', '/badge/octo/..'],
  ['GET', '/badges/deployed.svg'],
  ['GET', '/nothing/here'],
];

describe('an answer that names the address of the service', exhaustive, () => {
  it.each(['/', '/docs', '/openapi.json'])(
    '%s is for shared caches only if the operator has given it',
    async (path) => {
      const askAt = async (host: string): Promise<[string, string]> => {
        const request = new Request(`https://${host}${path}`);
        const variables = { ...bindings, SERVICE_URL: 'https://veil.test' };
        const response = await worker.fetch(request, variables, createExecutionContext());
        const [named = ''] = /https:\/\/(?:veil|other)\.test/.exec(await response.text()) ?? [];
        return [named, response.headers.get('Cache-Control')?.split(',')[0] ?? ''];
      };
      expect(await askAt('veil.test')).toEqual(['https://veil.test', 'public']);
      expect(await askAt('other.test')).toEqual(['https://veil.test', 'public']);
      const forged = new Request(`https://other.test${path}`, {
        headers: { 'X-Forwarded-Host': '127.0.0.1:8080' },
      });
      const unset = await worker.fetch(forged, bindings, createExecutionContext());
      expect(unset.headers.get('Cache-Control')).toMatch(/^private,/);
    },
  );
});

describe('every answer', () => {
  it.each([...FOR_PROGRAMS, ...OTHERS])('%s %s tells browsers to be careful', async (method, path) => {
    const { headers } = await ask(method, path);
    expect(headers.get('X-Content-Type-Options')).toBe('nosniff');
    expect(headers.get('Content-Security-Policy')).toContain("default-src 'none'");
    expect(headers.get('Content-Security-Policy')).toContain("frame-ancestors 'none'");
    expect(headers.get('Referrer-Policy')).toBe('same-origin');
    expect(headers.get('Strict-Transport-Security')).toBe('max-age=31536000');
    expect(headers.get('Cross-Origin-Resource-Policy')).toBe(
      path.startsWith('/badge') ? 'cross-origin' : 'same-origin',
    );
    expect(headers.get('Set-Cookie')).toBeNull();
    expect(headers.get('Access-Control-Allow-Credentials')).toBeNull();
  });

  it('keeps what a route has set itself, also on an answer that came out of a cache', async () => {
    const app = new Hono<AppEnv>().use(securityHeaders);
    const own = {
      headers: { 'Content-Security-Policy': "default-src 'self'", 'Cache-Control': 'max-age=60' },
    };
    app.get('/cached', async (c) => {
      await caches.default.put('https://gitveil.test/kept', new Response('kept', own));
      return (await caches.default.match('https://gitveil.test/kept')) ?? c.notFound();
    });
    const { headers } = await app.request('/cached');
    expect(headers.get('Content-Security-Policy')).toBe("default-src 'self'");
    expect(headers.get('X-Content-Type-Options')).toBe('nosniff');
  });
});

describe('CORS', () => {
  it.each(FOR_PROGRAMS)('%s %s may be called and read from anywhere', async (method, path) => {
    const answer = await ask(method, path, { Origin: 'https://front.example' });
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('*');
    const preflight = await ask('OPTIONS', path, {
      Origin: 'https://front.example',
      'Access-Control-Request-Method': method,
      'Access-Control-Request-Headers': 'content-type,x-service-key',
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('Access-Control-Allow-Methods')?.split(',')).toContain(method);
    expect(preflight.headers.get('Access-Control-Allow-Headers')).toBe(
      'Content-Type,Git-Protocol,Idempotency-Key,X-Service-Key',
    );
  });

  it('stands on refusals too, and lets front ends read why', async () => {
    const request = new Request('https://gitveil.test/api/stats', {
      headers: { Origin: 'https://front.example' },
    });
    const answer = await worker.fetch(request, { ...bindings, SERVICE_API_KEY: 'key' });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('*');
    expect(answer.headers.get('X-Error-Code')).toBe('unauthorized');
    expect(answer.headers.get('Access-Control-Expose-Headers')).toContain('X-Error-Code');
  });

  it('lets front ends read how long they have to wait', async () => {
    vi.setSystemTime(Date.UTC(2040, 0, 1));
    const answers = await Promise.all(Array.from({ length: 11 }, () => ask('POST', '/admin/panic')));
    vi.useRealTimers();
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.headers.get('Retry-After')).toBe('60');
    expect(refused?.headers.get('Access-Control-Expose-Headers')).toContain('Retry-After');
  });

  it.each(OTHERS)('%s %s has none', async (method, path) => {
    const answer = await ask(method, path, { Origin: 'https://front.example' });
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBeNull();
  });
});
