/**
 * docs/host.md lists every REST call that the service makes. That its tests exist,
 * documents.test.ts sees.
 */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const FOLDERS = ['rest', 'app'].map((name) => join(ROOT, 'src/host', name));
const TEXT = /(['`])((?:GET|POST|PATCH|PUT|DELETE) [^'`]+|\$\{[A-Z]+\}\/[^'`]+)\1/g;

/** Routes as they stand there: whole, or with a constant of the file. */
async function routesInSource(): Promise<string[]> {
  const paths = FOLDERS.map(async (folder) => (await readdir(folder)).map((file) => join(folder, file)));
  const files = (await Promise.all(paths)).flat();
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  const routes = texts.flatMap((text) => {
    const constants = text.matchAll(/^const ([A-Z]+) = '([^']*\/[^']+)';$/gm);
    const values = new Map(Array.from(constants, ([, name = '', value = '']) => [name, value] as const));
    return Array.from(text.matchAll(TEXT), ([, , route = '']) =>
      route.replaceAll(/\$\{(?:typeof )?(\w+)\}/g, (_, name: string) => values.get(name) ?? name),
    );
  });
  return [...new Set(routes)];
}

async function listedCalls(): Promise<string[]> {
  const text = await readFile(join(ROOT, 'docs/host.md'), 'utf8');
  return Array.from(text.matchAll(/^- `([A-Z]+ \/[^`]*)`/gm), ([, call = '']) => call);
}

it('lists every call once, and no other', async () => {
  const called = await routesInSource();
  expect(called.length).toBeGreaterThan(20);
  expect((await listedCalls()).toSorted()).toEqual(called.toSorted());
});
