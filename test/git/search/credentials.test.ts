/** Which credentials are known, and what is none. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Credential } from '../../../src/git/search/credentials.ts';
import { SearchedNames } from '../../../src/git/search/searched-names.ts';
import { LIKELY, PROVEN } from '../../support/made-up-credentials.ts';
import { blob, searched } from '../../support/pack-searching.ts';
import { runs } from '../../support/runs.ts';
import { workOf } from '../../support/work-meter.ts';

const names = new SearchedNames({ headers: [], originalIds: [], nobodys: [] });
const inText = (text: string): readonly Credential[] => names.firstIn(Buffer.from(text)).credentials;

describe.each([
  [true, PROVEN],
  [false, LIKELY],
] as const)('what is proven (%s)', (isProven, kinds) => {
  it.each(Object.entries(kinds))('is found in a text: %s', (_, make) => {
    fc.assert(
      fc.property(
        fc.constantFrom('', 'x: ', "'", '=', '\n', '('),
        fc.constantFrom('', "'", '\n', ')'),
        (a, b) => {
          const found = inText(`${a}${make()}${b}`);
          expect(found.map((credential) => credential.isProven)).toEqual([isProven]);
        },
      ),
      runs(20),
    );
  });

  it.each(Object.entries(kinds))('is found in a file, in whatever pieces it comes: %s', async (_, make) => {
    for (const seed of [null, 1, 77]) {
      const { hits } = await searched([blob(`${'words\n'.repeat(30)}key = ${make()}\nmore\n`)], { seed });
      expect(hits.map(({ credential }) => credential?.isProven)).toEqual([isProven]);
    }
  });

  it.each(Object.entries(kinds))(
    'is no news where upstream has it, in another line, too: %s',
    async (_, make) => {
      const text = make();
      const file = Buffer.from(`key = ${text}\n`);
      const { treeContent } = await import('../../support/objects.ts');
      const { oidOf } = await import('../../support/pack-builder.ts');
      const tree = treeContent([{ name: 'a', oid: oidOf('blob', file) }]);
      const entries = [{ type: 'tree' as const, content: tree }, blob(file)];
      const upstream = { a: `the ${text} of all\n` };
      expect((await searched(entries, { upstream })).hits).toEqual([]);
      expect((await searched(entries, { upstream: { a: 'nothing' } })).hits).toHaveLength(1);
    },
  );
});

it.each([
  'npm_config_registry=x',
  'a ghp_ token looks like ghp_xxxxxxxxxxxx',
  'glpat-<your token>',
  'AKIAIOSFODNN7EXAMPLE',
  'see https://example.org:8080/@ada and https://example.org/a:b@c',
  'https://user:password@git.org/x',
  'https://x-access-token:${TOKEN}@github.com/o/r',
  'postgres://postgres:postgres@db/test',
  'redis://:pass@localhost',
  'http://ada:lovelace@localhost:3000',
  'https://ada:lovelace@git.example.org/x',
  '-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUAb\n-----END CERTIFICATE-----',
  '-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA\n-----END PUBLIC KEY-----',
  "begins with '-----BEGIN PRIVATE KEY-----' and ends",
  `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${'x'.repeat(43)}\n`,
  'data:image/png;base64, AAAA' + 'B'.repeat(100),
])('is none: %j', (text) => {
  expect(inText(text)).toEqual([]);
});

it('is found in a text behind any number of others', () => {
  const [proven] = Object.values(PROVEN);
  const others = Array.from({ length: 50 }, () => `${LIKELY['in an address']?.()}\n`).join('');
  expect(inText(`${others}${proven?.()}`).filter(({ isProven }) => isProven)).toHaveLength(1);
});

it('is told to be unsearched for in a file that is too large to be looked into, behind others', async () => {
  const [proven] = Object.values(PROVEN);
  const others = Array.from({ length: 5 }, () => `${LIKELY['in an address']?.()}\n`).join('');
  const { isComplete } = await searched([blob(`${others}${'words\n'.repeat(800_000)}${proven?.()}`)]);
  expect(isComplete).toBe(false);
});

it('costs little however many headers of a key stand before each other', async () => {
  const header = `-----BEGIN RSA PRIVATE KEY-----\n${'A'.repeat(42)}\n`;
  const text = `${header.repeat(999)}${PROVEN['in PEM']!()}`;
  let found: readonly Credential[] = [];
  const { bytes } = await workOf(() => (found = inText(text)));
  expect(found.map(({ isProven }) => isProven)).toEqual([...Array(999).fill(false), true]);
  // A look at a credential reads so much.
  expect(bytes).toBeLessThan(1_000 * 1_600 + 2 * text.length);
});

it('is proven without its last line, if the file ends there', () => {
  const [key = ''] = PROVEN['in PEM']!().split('-----END');
  expect(inText(key).map(({ isProven }) => isProven)).toEqual([true]);
});

it('is never proven by a part of it', async () => {
  const [make] = Object.values(PROVEN);
  for (const cut of [1, 6, 20]) {
    expect(inText(make?.().slice(0, -cut) ?? '')).toEqual([]);
  }
});
