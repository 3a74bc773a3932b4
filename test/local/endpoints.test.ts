/** The endpoints that the Worker knows are Octokit's own, and all that it calls. */
import { globSync, readFileSync } from 'node:fs';
import { Octokit } from '@octokit/rest';
import { expect, it } from 'vitest';
import { ENDPOINTS } from '../../src/host/rest/endpoints.ts';

type Methods = Readonly<
  Record<string, Record<string, { endpoint: { DEFAULTS: { method: string; url: string } } }>>
>;

it('are those that are called', () => {
  const sources = globSync('src/host/**/*.ts').map((file) => readFileSync(file, 'utf8'));
  // Scopes are always written out, so that none is missed here.
  expect(sources.filter((source) => /\brest;/.test(source))).toEqual([]);
  const called = sources.flatMap((source) =>
    Array.from(source.matchAll(/\brest\.(\w+\.\w+)/g), ([, name = '']) => name),
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
