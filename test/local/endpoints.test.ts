/** The endpoints that the Worker knows are Octokit's own, and all that it calls. */
import { globSync, readFileSync } from 'node:fs';
import { Octokit } from '@octokit/rest';
import { expect, it } from 'vitest';
import { ENDPOINTS } from '../../src/host/rest/endpoints.ts';

type Methods = Readonly<
  Record<string, Record<string, { endpoint: { DEFAULTS: { method: string; url: string } } }>>
>;

it('are those that are called', () => {
  const called = globSync('src/host/**/*.ts').flatMap((file) =>
    Array.from(readFileSync(file, 'utf8').matchAll(/\brest\.(\w+\.\w+)/g), ([, name = '']) => name),
  );
  const known = Object.entries(ENDPOINTS).flatMap(([scope, methods]) =>
    Object.keys(methods).map((name) => `${scope}.${name}`),
  );
  expect(known.toSorted()).toEqual([...new Set(called)].toSorted());
});

it.each(Object.entries(ENDPOINTS))('are as Octokit has them: %s', (scope, methods) => {
  const rest = new Octokit().rest as unknown as Methods;
  for (const [name, endpoint] of Object.entries(methods)) {
    const { method, url } = rest[scope]![name]!.endpoint.DEFAULTS;
    expect(`${method} ${url}`).toBe(endpoint);
  }
});
