/** docs/host.md and docs/hosts.md list every REST call that the service makes, and name tests that exist. */
import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Octokit } from '@octokit/rest';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const FOLDERS = ['src/host/github', 'src/host/rest'];
/** As the calls stand in the source: `pulls.listReviews`. */
const CALL_PATTERN = /\b(users|repos|git|pulls|issues|activity)\.([a-z]\w+)/g;

type Described = { readonly endpoint?: { readonly DEFAULTS: { method: string; url: string } } };

async function callsInSource(): Promise<string[]> {
  const rest = new Octokit().rest as unknown as Record<string, Record<string, Described>>;
  const listings = FOLDERS.map(async (folder) =>
    (await readdir(join(ROOT, folder))).map((file) => join(ROOT, folder, file)),
  );
  const files = (await Promise.all(listings)).flat();
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  const calls = texts.flatMap((text) =>
    Array.from(text.matchAll(CALL_PATTERN), ([, group = '', name = '']) => rest[group]?.[name]?.endpoint),
  );
  return calls.flatMap((call) => (call ? [`${call.DEFAULTS.method} ${call.DEFAULTS.url}`] : []));
}

/** As they stand in Forgejo's: whole routes, with the constants that begin them. */
async function routesInSource(): Promise<string[]> {
  const folder = join(ROOT, 'src/host/forgejo');
  const texts = await Promise.all(
    (await readdir(folder)).map((file) => readFile(join(folder, file), 'utf8')),
  );
  const constants = new Map(
    texts.flatMap((text) =>
      Array.from(
        text.matchAll(/^(?:export )?const (\w+) = '(\/[^']+)';$/gm),
        ([, name = '', path = '']) => [name, path] as const,
      ),
    ),
  );
  return texts.flatMap((text) => {
    const routes = text.matchAll(/['`]((?:GET|POST|PATCH|PUT|DELETE) [^'`]+)['`]/g);
    return Array.from(routes, ([, route = '']) =>
      route.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => constants.get(name) ?? name),
    );
  });
}

async function listedIn(page: string): Promise<Set<string>> {
  const text = await readFile(join(ROOT, page), 'utf8');
  return new Set(Array.from(text.matchAll(/^\| `([A-Z]+ \/[^`]*)`/gm), ([, call = '']) => call));
}

it.each(['docs/host.md', 'docs/hosts.md'])('the tests that %s names exist', async (page) => {
  const tests = (await readFile(join(ROOT, page), 'utf8')).match(/\btest\/[\w/.-]+\.test\.ts/g) ?? [];
  expect(tests.length).toBeGreaterThan(3);
  expect(tests.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

it('docs/hosts.md lists every call to Forgejo and Gitea, and no other', async () => {
  expect([...(await listedIn('docs/hosts.md'))].toSorted()).toEqual(
    [...new Set(await routesInSource())].toSorted(),
  );
});

it('docs/host.md lists every call to GitHub', async () => {
  const listed = await listedIn('docs/host.md');
  const called = new Set(await callsInSource());
  expect(called.size).toBeGreaterThan(15);
  expect([...called].filter((call) => !listed.has(call))).toEqual([]);
});
