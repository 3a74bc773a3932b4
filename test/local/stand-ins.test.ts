/**
 * Checks what local/runtime/stand-ins.ts takes from miniflare's package. These files are no
 * interface of miniflare, so a new version may move or change them. Then this test names the
 * version and the file, before a start on one machine fails with an error of workerd, or keeps a
 * time that it must not.
 */
import { existsSync, mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { type CapnpValue, Embed } from '../../local/runtime/capnp.ts';
import { CACHE, D1, KV, SHARED_MODULES, STAND_INS_PATH } from '../../local/runtime/stand-ins.ts';

const PACKAGE = dirname(createRequire(import.meta.url).resolve('miniflare/package.json'));
const { version } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as { version: string };

/** The bindings and the property through which miniflare's entries find their object. */
const ENTRY = [
  'MINIFLARE_OBJECT',
  'props[SharedBindings.TEXT_NAMESPACE]',
  'MINIFLARE_NAMESPACE',
  'as default',
];
/** Parts that each file must contain for our configuration to fit. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  '/d1/entry.worker.js': ENTRY,
  '/d1/database.worker.js': ['D1DatabaseObject'],
  '/shared/object-entry.worker.js': ENTRY,
  '/kv/namespace.worker.js': ['KVNamespaceObject'],
  // The clock that `TIMELESS` stops.
  '/shared/index.worker.js': ['MINIFLARE_BLOBS', 'performance.timeOrigin + performance.now()'],
  '/cache/cache-entry-noop.worker.js': ['as default'],
};
/** Modules that are given to the stand-ins. */
const GIVEN = /^(?:miniflare:(?:shared|zod)|cloudflare:workers|node:[a-z]+|node-internal:[a-z_]+)$/;

function embeddedPaths(value: CapnpValue | undefined): string[] {
  if (value instanceof Embed) return [value.path];
  return typeof value === 'object' ? Object.values(value).flatMap(embeddedPaths) : [];
}

/** A sentence for each file of the folder that stand-ins.ts could not use any more. */
function movedParts(folder: string): string[] {
  return embeddedPaths([D1, KV, CACHE, ...SHARED_MODULES]).flatMap((path) => {
    if (!existsSync(join(folder, path))) return [`miniflare ${version} has no ${path}`];
    const text = readFileSync(join(folder, path), 'utf8');
    const imported = [...text.matchAll(/^(?:import|\}) .*?from "(.+)";$/gm)].map(([, name = '']) => name);
    const missing = (NEEDED[path] ?? []).filter((part) => !text.includes(part));
    const unknown = imported.filter((name) => !GIVEN.test(name));
    return missing
      .map((part) => `no longer has ${part}`)
      .concat(unknown.map((name) => `imports ${name}`))
      .map((fault) => `miniflare ${version}: ${path} ${fault}`);
  });
}

it('finds each file and each name that it needs in the version that is installed', () => {
  expect(embeddedPaths([D1, KV, CACHE, ...SHARED_MODULES]).toSorted()).toEqual(
    Object.keys(NEEDED).toSorted(),
  );
  expect(movedParts(STAND_INS_PATH)).toEqual([]);
});

it('takes the compatibility date of its Workers from the same version', () => {
  const { worker } = CACHE as unknown as { worker: { compatibilityDate: string } };
  expect(readFileSync(join(PACKAGE, 'dist/src/index.js'), 'utf8')).toContain(
    `compatibilityDate: "${worker.compatibilityDate}"`,
  );
});

it('names the version and the file that a new version has moved, renamed or given other imports', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gitveil-test-'));
  try {
    mkdirSync(join(folder, 'kv'));
    writeFileSync(join(folder, 'kv/namespace.worker.js'), 'import { a } from "miniflare:new";\n');
    expect(movedParts(folder)).toEqual(
      expect.arrayContaining([
        `miniflare ${version} has no /d1/entry.worker.js`,
        `miniflare ${version}: /kv/namespace.worker.js no longer has KVNamespaceObject`,
        `miniflare ${version}: /kv/namespace.worker.js imports miniflare:new`,
      ]),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});
