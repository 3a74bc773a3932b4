/**
 * The order of the rooms of `src`: no import runs upwards or in a circle, and what importing one
 * file drags along is bounded. And which test proves each file.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, it } from 'vitest';

const SRC = join(import.meta.dirname, '../../src');

/** A room imports only what stands below it. Files of `src` itself are rooms of their own. */
const ROOMS = [
  'worker.ts',
  'scheduled.ts',
  'routes',
  'service',
  'pages',
  'push',
  'patch',
  'edit',
  'leaks',
  'policy',
  'upstream',
  'durable',
  'events',
  'stats',
  'notify',
  'badges',
  'text',
  'host-access.ts',
  'config',
  'host',
  'streams',
  'metrics',
  'outgoing',
  'spool',
  'limits',
  'isolate',
  'secret',
  'git',
  'objects.ts',
  'log.ts',
  'storage-failure.ts',
  'words',
  // Types of everything that is bound, so nobody can stand below it.
  'env.ts',
];
/**
 * Files of `src` itself: each is what all rooms connect with, or are connected by. Like the numbers
 * below, this one leaves room for some files: it notices a habit, and not a single file.
 */
const MOST_LOOSE_FILES = 10;
/** Most files that importing one drags along: it notices when a whole room is dragged in. */
const MOST_BEHIND_A_HOST = 80;
/** Files that run because one is imported. */
const MOST_RUN_BY = { 'push/session.ts': 160, 'routes/git/git-push.ts': 210 };
/**
 * Most files of `push` in which one follows a push that is published at once, from its first byte
 * to its answer.
 */
const MOST_OF_A_LIVE_PUSH = 45;

/** The names may be on several lines. */
const IMPORT = /^(?:import|export)\s(?:[^'";]*?\sfrom\s)?'(\.[^']+)';/gm;
/** Imports without those of types, which are gone when the code runs. */
const VALUE_IMPORT = /^(?:import|export)\s(?!type\s)(?:[^'";]*?\sfrom\s)?'(\.[^']+)';/gm;

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
const imports = new Map(files.map((file) => [file, importsOf(file, IMPORT)]));
const valueImports = new Map(files.map((file) => [file, importsOf(file, VALUE_IMPORT)]));

function importsOf(file: string, pattern: RegExp): string[] {
  const text = readFileSync(join(SRC, file), 'utf8');
  return [...text.matchAll(pattern)].map(([, path = '']) => normalize(join(dirname(file), path)));
}

const roomOf = (file: string): string => file.split('/')[0] as string;

/**
 * All files that importing this one brings along.
 * @param passes whether to follow what a file imports.
 */
function behind(file: string, passes = (_to: string): boolean => true, graph = imports): Set<string> {
  const found = new Set<string>();
  const follow = (from: string): void => {
    for (const to of graph.get(from) ?? []) {
      if (found.has(to) || !passes(to)) continue;
      found.add(to);
      follow(to);
    }
  };
  follow(file);
  return found;
}

it('has a place for each room, and no place without one', () => {
  expect([...new Set(files.map(roomOf))].toSorted()).toEqual(ROOMS.toSorted());
});

it('has few files outside of a room', () => {
  expect(files.filter((file) => !file.includes('/')).length).toBeLessThanOrEqual(MOST_LOOSE_FILES);
});

it('has no import that runs upwards', () => {
  const upwards = files
    .filter((file) => file !== 'env.ts')
    .flatMap((file) => (imports.get(file) ?? []).map((to) => ({ file, to })))
    .filter(({ file, to }) => to !== 'env.ts' && ROOMS.indexOf(roomOf(file)) > ROOMS.indexOf(roomOf(to)));
  expect(upwards).toEqual([]);
});

it('has no files that import each other in a circle, but env.ts and the objects that it names', () => {
  // Without the arrows to env.ts, nothing is left that leads back.
  const inCircle = files.filter((file) => behind(file, (to) => to !== 'env.ts').has(file));
  expect(inCircle).toEqual([]);
});

it('has a code host that can be understood without most of the service', () => {
  expect(behind('host/rest/forks.ts').size).toBeLessThanOrEqual(MOST_BEHIND_A_HOST);
});

it.each(Object.entries(MOST_RUN_BY))('has %s, which runs at most %i other files', (file, most) => {
  expect(behind(file, undefined, valueImports).size).toBeLessThanOrEqual(most);
});

it('has a push that is published at once in few files', () => {
  const followed = [...behind('push/session.ts', (to) => !to.startsWith('push/delay/'), valueImports)];
  expect(followed.filter((file) => roomOf(file) === 'push').length).toBeLessThanOrEqual(MOST_OF_A_LIVE_PUSH);
});

it('has requests of Hono in routes only: below them, everything is a port', () => {
  const above = new Set(['worker.ts', 'routes']);
  const below = files.filter((file) => !above.has(roomOf(file)));
  expect(below.filter((file) => /from 'hono'/.test(readFileSync(join(SRC, file), 'utf8')))).toEqual([]);
});

it('takes the code host of a request from its path alone: what looks at another one has a scope', () => {
  const setting = files.filter((file) => /\.set\('host'/.test(readFileSync(join(SRC, file), 'utf8')));
  expect(setting).toEqual(['routes/request/repository.ts']);
});

it('has pure Git, which needs nothing else', () => {
  const outside = files.filter((file) => roomOf(file) === 'git').flatMap((file) => imports.get(file) ?? []);
  expect(outside.filter((to) => roomOf(to) !== 'git')).toEqual([]);
});

it('asks for every object in one place, with the hint of where it is to live', () => {
  const asks = /\.(?:idFromName|idFromString|newUniqueId|getByName)\b|\b[A-Z_]+\.get\(\w*[iI]d\b/;
  const asking = files.filter((file) => asks.test(readFileSync(join(SRC, file), 'utf8')));
  expect(asking).toEqual(['objects.ts']);
  const text = readFileSync(join(SRC, 'objects.ts'), 'utf8');
  expect(text.match(/\.get\(.*/g)).toEqual(['.get(objects.idFromName(name), hint);']);
});

it.each([
  ['configuration', /\bparseConfig\(/, 'config/configured.ts'],
  ['client', /\bnew HttpClient\(/, 'config/configured.ts'],
  ['log', /\bcreateLogger\(/, 'log.ts'],
])('opens a %s in one place', (_what, opening, place) => {
  const opens = (file: string): boolean =>
    opening.test(readFileSync(join(SRC, file), 'utf8').replaceAll(/^export function.*/gm, ''));
  expect(files.filter(opens)).toEqual([place]);
});

it('has one thing for each exported name', () => {
  const exported = /^export (?:async )?(?:abstract )?(?:class|const|enum|function\*?|interface|type) (\w+)/gm;
  const places = new Map<string, Set<string>>();
  for (const file of files)
    for (const [, name = ''] of readFileSync(join(SRC, file), 'utf8').matchAll(exported))
      places.set(name, (places.get(name) ?? new Set()).add(file));
  expect([...places].filter(([, where]) => where.size > 1)).toEqual([]);
});

it('has no test on a shared bed that would leave something to the next file', () => {
  const folder = join(import.meta.dirname, '..');
  const disturbing = /\bfaults\.inject|\.restart\(|runScheduled|suspend|renameBot|workerdPid/;
  const tests = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.test.ts'),
  );
  const found = tests.filter((name) => {
    const text = readFileSync(join(folder, name), 'utf8');
    return /= useTestBed\(\)/.test(text) && disturbing.test(text);
  });
  expect(found).toEqual([]);
});

it('has no timer that nobody can clear: it would keep a Durable Object awake', () => {
  expect(
    files.filter((file) => readFileSync(join(SRC, file), 'utf8').includes('AbortSignal.timeout(')),
  ).toEqual([]);
});

const COMMENT = /\/\*[^]*?\*\/|\/\/.*/g;
const TYPE = /^(?:export )?(?:interface|type) (?:.*\{$[^]*?^\}|[^]*?;$)/gm;
/** Code, once comments and types are removed. A file of constants alone has none. */
const CODE = /=>|^(?:export )?(?:default )?(?:async )?(?:abstract )?(?:function|class)\b/m;
const HEADER = /^\/\*\*[^]*?\*\//;
const NAMED_TEST = /\btest\/[\w/.-]+\.test\.ts\b/g;

it('has no code without a test: one of its own path, or those that its header names', () => {
  const root = join(SRC, '..');
  const faults = files.flatMap((file) => {
    const text = readFileSync(join(SRC, file), 'utf8');
    const [, said = ''] = (HEADER.exec(text)?.[0] ?? '').split('Proved by ');
    const named = said.match(NAMED_TEST) ?? [];
    const gone = named.filter((test) => !existsSync(join(root, test)));
    const own = `test/${file.slice(0, -'.ts'.length)}`;
    const hasOwn = ['.test.ts', '.property.test.ts'].some((ending) => existsSync(join(root, own + ending)));
    const isProved =
      hasOwn || named.length > 0 || !CODE.test(text.replaceAll(COMMENT, '').replaceAll(TYPE, ''));
    const missing = `src/${file} needs ${own}.test.ts, or a line "Proved by test/….test.ts." in its header.`;
    return gone
      .map((test) => `src/${file} says that ${test} proves it, and there is no such test.`)
      .concat(isProved ? [] : [missing]);
  });
  expect(faults).toEqual([]);
});
