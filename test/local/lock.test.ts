import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

interface Lock {
  readonly packages: Readonly<Record<string, { engines?: unknown }>>;
}

it('no package in the lock asks for a Node.js; if one does, npm run lock helps', () => {
  const { packages } = JSON.parse(
    readFileSync(join(import.meta.dirname, '../../package-lock.json'), 'utf8'),
  ) as Lock;
  const asking = Object.entries(packages).filter(
    ([path, { engines }]) => path !== '' && engines !== undefined,
  );
  expect(asking.map(([path]) => path)).toEqual([]);
});

it('names no registry', () => {
  const text = readFileSync(join(import.meta.dirname, '../../package-lock.json'), 'utf8');
  expect(text).not.toContain('"resolved"');
});

it('replaces no package: the npm of Debian 12 cannot read a lock file that does', () => {
  const { overrides } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as {
    overrides?: object;
  };
  expect(overrides).toBeUndefined();
});
