/**
 * Checks that what the documents name exists: files, push options, variables with their defaults.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { billLines } from '../../bench/bill.ts';
import { VARIABLES } from '../../src/config/environment-reader.ts';
import { madePages } from '../../local/generate/documents.ts';
import { startService } from '../../local/runtime/service.ts';
import { parseConfig } from '../../src/config/config.ts';
import { KNOWN_OPTIONS } from '../../src/push/receive/push-options.ts';
import { builtWorker } from '../e2e/support/built-worker.ts';

const ROOT = join(import.meta.dirname, '../..');
const DOCUMENTS = ['.', 'docs', 'docs/decisions'].flatMap((folder) =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name)),
);
const CONFIGURATION = 'docs/configuration.md';
/** Width that a terminal and a page of the code host show without scrolling. */
const MOST_COLUMNS_OF_TABLES = 120;

function textOf(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** Whether there is a file of that name, with or without the ending of a source file. */
function isInRepository(name: string): boolean {
  return [name, `${name}.ts`].some((file) => existsSync(join(ROOT, file)));
}

/** The items about variables: their names, and what stands in brackets behind them, the default. */
function variableItems(): readonly (readonly [names: string, value: string])[] {
  return Array.from(textOf(CONFIGURATION).matchAll(/^- (`[A-Z].*?) \((.*?)\)/gm), ([, names, value]) => [
    names ?? '',
    value ?? '',
  ]);
}

it('README.md begins with the two commands, and .ci/run runs both parts of the second', () => {
  const [, block = ''] = /^```sh\n(.*?)^```/ms.exec(textOf('README.md')) ?? [];
  const commands = block
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/ +#.*/, ''));
  expect(commands).toEqual(['npm ci && npm start', 'npm ci && npm test']);
  expect(textOf('.ci/run')).toMatch(/^npm ci\b[^]*^npm test\b/m);
});

it('docs/options.md has every push option once in its table, and no other', () => {
  const [, table = ''] = /^\| Option +\|.*?\n((?:\|.*\n)+)/m.exec(textOf('docs/options.md')) ?? [];
  const names = table.split('\n').flatMap((row) => row.split('|')[1]?.match(/(?<=`)[a-z-]+=?/g) ?? []);
  expect(names.toSorted()).toEqual(KNOWN_OPTIONS.toSorted());
});

it('docs/clients.md explains the lines that Git itself adds to a refusal', () => {
  const shown = textOf('test/e2e/push/conversations/16-limit.txt');
  const [, added = ''] = /^(error: error in .*)$/m.exec(shown) ?? [];
  expect(added).not.toBe('');
  for (const line of [added, 'Everything up-to-date'])
    expect(textOf('docs/clients.md')).toContain(`- \`${line}\``);
});

it.each(DOCUMENTS)('%s has no table that is wider than a terminal', (path) => {
  const rows = textOf(path).match(/^\|.*$/gm) ?? [];
  expect(rows.filter((row) => row.length > MOST_COLUMNS_OF_TABLES)).toEqual([]);
});

it('test/privacy.md names tests that exist, under the headings of docs/privacy.md', () => {
  const text = textOf('test/privacy.md');
  const proofs = Array.from(text.matchAll(/^- (test\/\S+): (.+)$/gm));
  expect(proofs.length).toBeGreaterThan(60);
  const missing = proofs.filter(
    ([, file = '', title = '']) => !existsSync(join(ROOT, file)) || !textOf(file).includes(title),
  );
  expect(missing.map(([proof]) => proof)).toEqual([]);
  const headings = new Set(textOf('docs/privacy.md').match(/^## .*$/gm));
  expect((text.match(/^## .*$/gm) ?? []).filter((heading) => !headings.has(heading))).toEqual([]);
});

/**
 * Lines of a test's title, up to its function, and the first lines of the suites around it.
 * Prettier's indentation says which.
 */
function headsOf(text: string, title: string): string[] {
  const lines = text.split('\n');
  const at = lines.findIndex((line) => line.includes(title));
  const end = lines.findIndex((line, index) => index >= at && line.includes('=>'));
  const heads = lines.slice(at, end + 1);
  let indentation = /^ */.exec(lines[at] ?? '')?.[0].length ?? 0;
  for (const line of lines.slice(0, at).toReversed()) {
    const own = line.search(/\S/);
    if (own < 0 || own >= indentation) continue;
    indentation = own;
    heads.push(line);
  }
  return heads;
}

it.each(['test/contract.md', 'test/privacy.md'])('%s names no test that npm test leaves out', (page) => {
  const proofs = Array.from(textOf(page).matchAll(/(test\/\S+\.test\.ts): ([^|<\n]+)/g));
  expect(proofs.length).toBeGreaterThan(20);
  const leftOut = proofs.filter(([, file = '', title = '']) => {
    const last = title.trim().split(' › ').at(-1) ?? '';
    return headsOf(textOf(file), last).some((line) => /\bexhaustive\b/.test(line));
  });
  expect(leftOut.map(([proof]) => proof)).toEqual([]);
});

it('the suite of the contract is whole in npm test, and CI runs what npm test leaves out', () => {
  const suite = readdirSync(join(ROOT, 'test/contract')).filter((name) => name.endsWith('.test.ts'));
  expect(suite.filter((name) => textOf(`test/contract/${name}`).includes('exhaustive'))).toEqual([]);
  expect(textOf('.ci/run')).toMatch(/^npm run test:all -- --tags-filter=exhaustive /m);
});

it.each(DOCUMENTS.filter((path) => path !== CONFIGURATION))('%s has no list of variables', (path) => {
  expect(textOf(path).match(/^(?:\|| *-) `[A-Z]+_[A-Z_]+`/gm)).toBeNull();
});

it('docs/configuration.md has every variable once, and no other', () => {
  const documented = variableItems().flatMap(([names]) => names.replace('<KEY>', '').match(/[A-Z_]+/g) ?? []);
  expect(documented.toSorted()).toEqual([...VARIABLES, 'HOSTING_TOKEN_'].toSorted());
});

it('docs/configuration.md has the defaults that the configuration has', () => {
  const values = variableItems().flatMap(([names, value]) => {
    const [, name] = /^`([A-Z_]+)`$/.exec(names) ?? [];
    const [, text] = /^`([^`]+)`$/.exec(value) ?? [];
    return name === undefined || text === undefined || VARIABLES.some((other) => other === text)
      ? []
      : [[name, text] as const];
  });
  expect(values.length).toBeGreaterThan(20);
  const wrong = values.filter(([name, text]) => {
    const result = JSON.stringify(parseConfig({ [name]: text }));
    return (
      result.replace(/"warnings":.*/, '') !== JSON.stringify(parseConfig({})).replace(/"warnings":.*/, '')
    );
  });
  expect(wrong).toEqual([]);
});

it.each(DOCUMENTS)('%s names files and folders that exist', (path) => {
  const named =
    textOf(path).match(/\b(?:src|test|local|sandbox|bench|docs|examples|migrations)\/[\w./-]*\w/g) ?? [];
  // What another project has.
  expect(named.filter((name) => !isInRepository(name) && name !== 'src/TermsOfUse.md')).toEqual([]);
});

it.each([...DOCUMENTS.filter((path) => path !== 'CHANGELOG.md'), '.ci/run'])(
  '%s names commands that package.json has',
  (path) => {
    const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
    const named = Array.from(
      textOf(path).matchAll(/npm run (?:-s |--silent )?([a-z][\w:-]*)/g),
      ([, name = '']) => name,
    );
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  },
);

it('docs/architecture.md has a line for every dependency', () => {
  const { dependencies, devDependencies } = JSON.parse(textOf('package.json')) as Record<string, object>;
  const text = textOf('docs/architecture.md');
  const listed = new Set(text.slice(text.indexOf('## Dependencies')).match(/`[^`]+`/g));
  const names = Object.keys({ ...dependencies, ...devDependencies });
  expect(names.filter((name) => !listed.has(`\`${name}\``))).toEqual([]);
});

it('docs/architecture.md has every file and folder of src', () => {
  const names = readdirSync(join(ROOT, 'src'), { withFileTypes: true });
  const paths = names.map((entry) => `\`src/${entry.name}${entry.isDirectory() ? '/' : ''}\``);
  const table = textOf('docs/architecture.md');
  expect(paths.filter((path) => !table.includes(path))).toEqual([]);
});

/**
 * Names of answers: `name: 'a'`, `read('a'`, `read(place, 'a'`, `a/${…}` and `${… ? 'a' : 'b'}/`.
 */
const KEPT =
  /`([a-z][\w-]*)\/\$\{|`\$\{\w+ \? '([\w-]+)' : '([\w-]+)'\}\/|\b(?:name: |read(?:<.*?>)?\((?:place, )?)'([\w-]+)'/g;

it('docs/storage.md has every kind of answer that is kept in KV and no other, and only keys that a source names', () => {
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => textOf(join('src', name)));
  const keepers = sources.filter((text) => text.includes('last-known.ts'));
  const kept = keepers.flatMap((text) => Array.from(text.matchAll(KEPT), ([, ...names]) => names)).flat();
  const document = textOf('docs/storage.md');
  const [section = ''] = /^### LAST_KNOWN$.*?^#/ms.exec(document) ?? [];
  const documented = section.match(/(?<=`)[\w-]+(?=`)/g) ?? [];
  expect(documented.toSorted()).toEqual(kept.filter(Boolean).toSorted());
  const keys = Array.from(document.matchAll(/^- key `([^`<]+)/gm), ([, key = '']) => key);
  expect(keys.filter((key) => !sources.some((text) => text.includes(`'${key}'`)))).toEqual([]);
});

it('are served as they stand here, and the API as it is described: if not, run `npm run documents`', async () => {
  const build = builtWorker();
  const service = await startService({ env: {}, stateDir: null, build });
  try {
    const pages = Object.entries(await madePages(service.url));
    expect(pages).toHaveLength(6);
    expect(pages.filter(([file, page]) => textOf(file) !== page).map(([file]) => file)).toEqual([]);
  } finally {
    await service.dispose();
  }
});

it('bill what `npx node bench/bill.ts` computes', () => {
  const shown = textOf('docs/performance.md').replaceAll(/ +/g, ' ');
  expect(billLines().filter((line) => !shown.includes(`\n${line}\n`))).toEqual([]);
});
