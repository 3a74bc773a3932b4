/**
 * GET /openapi.json describes what the Worker serves, and nothing else. Its answers:
 * test/e2e/people/api-description.test.ts.
 */
import { env } from 'cloudflare:workers';
import { Hono } from 'hono';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { HISTORY_KINDS } from '../../../src/durable/pull-request/history.ts';
import type { Env } from '../../../src/env.ts';

interface Description {
  openapi: string;
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
}

interface Operation {
  operationId: string;
  responses: Record<string, unknown>;
  security: unknown[];
}

const bindings = env as unknown as Env;
/** `GET /health`, with parameters as OpenAPI spells them. */
const served = new Set<string>();
let description: Description;

beforeAll(async () => {
  // The Worker mounts a part for each group of endpoints, when it is loaded: so it is loaded once
  // more.
  const mount = vi.spyOn(Hono.prototype, 'route');
  const again = '../../../src/worker.ts?again';
  const { default: worker } = (await import(
    /* @vite-ignore */ again
  )) as typeof import('../../../src/worker.ts');
  for (const [, part] of mount.mock.calls) {
    for (const { method, path } of (part as Hono).routes) {
      if (method !== 'ALL')
        served.add(`${method} ${path.replaceAll(/:(\w+)/g, '{$1}').replace(/(.)\/$/, '$1')}`);
    }
  }
  mount.mockRestore();
  const response = await worker.fetch(new Request('https://gitveil.test/openapi.json'), { ...bindings });
  description = await response.json();
});

describe('the description', () => {
  it('names every endpoint that is served, and no other', () => {
    const described = Object.entries(description.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
    // It only says which badges there are.
    served.delete('GET /badges/{badge}');
    // Forms are for people; programs have the JSON endpoints.
    for (const form of ['new-issue', 'reply', 'change', 'send-file', 'withdraw', 'security']) {
      for (const method of ['GET', 'POST']) {
        expect(served.delete(`${method} /v1/{host}/{owner}/{repo}/${form}`)).toBe(true);
      }
    }
    // So is the page of a delayed push, whose address is a secret.
    for (const method of ['GET', 'POST']) {
      expect(served.delete(`${method} /v1/delayed/{name}`)).toBe(true);
    }
    // Paths of the code host, which lead people to the forms.
    for (const path of served) {
      if (
        /^GET \/v1\/\{host\}\/\{owner\}\/\{repo\}\/(?:issues\/|pulls?\/|security\/|src\/|\{page\})/.test(path)
      )
        served.delete(path);
    }
    // Documents, as pages.
    for (const page of ['GET /privacy', 'GET /maintainers', 'GET /favicon.ico', 'GET /robots.txt'])
      expect(served.delete(page)).toBe(true);
    // Pages of the operator's.
    for (const page of [
      'GET /admin',
      'POST /admin',
      'GET /admin/delayed',
      'POST /admin/delayed',
      'GET /admin/delayed/{name}',
    ]) {
      expect(served.delete(page)).toBe(true);
    }
    expect(served.delete('GET /v1/moderation/appeal')).toBe(true);
    // The scheduled handler's own; see src/routes/git/release-delayed.ts.
    expect(served.delete('POST /v1/delayed')).toBe(true);
    expect(described.toSorted()).toEqual([...served].toSorted());
  });

  it('is OpenAPI 3.1, and names the service that was asked', () => {
    expect(description.openapi).toMatch(/^3\.1\./);
    expect(description.servers).toEqual([{ url: 'https://gitveil.test' }]);
  });

  it('names each operation by what it does, and every kind of event', () => {
    const ids = Object.values(description.paths).flatMap((operations) =>
      Object.values(operations).map(({ operationId }) => operationId),
    );
    expect(ids.filter((id) => !/^[a-z]+[A-Z][A-Za-z]+$/.test(id))).toEqual([]);
    expect(ids).toEqual([...new Set(ids)]);
    expect(JSON.stringify(description)).toContain(JSON.stringify(HISTORY_KINDS));
  });

  it('asks for the key exactly where the service does', () => {
    const keyed = Object.entries(description.paths).flatMap(([path, operations]) =>
      Object.values(operations).some(({ security }) => security.length > 0) ? [path] : [],
    );
    expect(keyed.toSorted()).toEqual(['/api/pr-status/{hash}', '/api/recent-prs', '/api/stats', '/metrics']);
  });
});
