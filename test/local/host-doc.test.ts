/** docs/host.md and docs/hosts.md list every REST call that the service makes, and name tests that exist. */
import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const FOLDER = join(ROOT, 'src/host/rest');
const TEXT = /(['`])((?:GET|POST|PATCH|PUT|DELETE) [^'`]+|\$\{[A-Z]+\}\/[^'`]+)\1/g;

/** Routes as they stand there: whole, or with a constant of the file. */
async function routesInSource(): Promise<string[]> {
  const files = await readdir(FOLDER);
  const texts = await Promise.all(files.map((file) => readFile(join(FOLDER, file), 'utf8')));
  const routes = texts.flatMap((text) => {
    const constants = text.matchAll(/^const ([A-Z]+) = '([^']*\/[^']+)';$/gm);
    const values = new Map(Array.from(constants, ([, name = '', value = '']) => [name, value] as const));
    return Array.from(text.matchAll(TEXT), ([, , route = '']) =>
      route.replaceAll(/\$\{(?:typeof )?(\w+)\}/g, (_, name: string) => values.get(name) ?? name),
    );
  });
  return [...new Set(routes)];
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

it('they list every call, and no other', async () => {
  const listed = [...(await listedIn('docs/host.md')), ...(await listedIn('docs/hosts.md'))];
  const called = await routesInSource();
  expect(called.length).toBeGreaterThan(20);
  expect([...new Set(listed)].toSorted()).toEqual(called.toSorted());
});
