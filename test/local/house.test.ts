/** The order of the rooms of `src`, and their sizes: no import runs upwards, no room grows beyond its ceiling. */
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, it } from 'vitest';

const SRC = join(import.meta.dirname, '../../src');

/** A room imports only what stands below it. Files of `src` itself are rooms of their own. */
const ROOMS = [
  'worker.ts',
  'scheduled.ts',
  'routes',
  'middleware',
  'pages',
  'push',
  'edit',
  'names',
  'forms',
  'policy',
  'upstream',
  'durable',
  'events',
  'stats',
  'notify',
  'badges',
  'text',
  'configured.ts',
  'config.ts',
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
  'host-error.ts',
  'host-text.ts',
  'pr-hash.ts',
  'repository-name.ts',
  'near-name.ts',
  // Types of everything that is bound, so nobody can stand below it.
  'env.ts',
];
const MOST_BEHIND_A_HOST = 60;
/** Files that run because one is imported. */
const MOST_RUN_BY = { 'push/session.ts': 90, 'routes/git/git-push.ts': 125 };
/** Of `push`, in which a push that is published at once is followed from its first byte to its answer. */
const MOST_OF_A_LIVE_PUSH = 19;
/** Who takes lines away lowers the ceiling. */
const MOST_LINES = 37_943;
/** Of the rooms that are folders. */
const MOST_LINES_OF_ROOMS = {
  badges: 71,
  config: 451,
  durable: 4_571,
  edit: 764,
  events: 287,
  forms: 81,
  git: 6_800,
  host: 3_345,
  isolate: 623,
  limits: 827,
  metrics: 420,
  middleware: 131,
  names: 959,
  notify: 372,
  outgoing: 974,
  pages: 2_325,
  policy: 537,
  push: 4_285,
  routes: 6_537,
  secret: 214,
  spool: 414,
  stats: 404,
  streams: 332,
  text: 615,
  upstream: 840,
};

/** The names may be on several lines. */
const IMPORT = /^(?:import|export)\s(?:[^'";]*?\sfrom\s)?'(\.[^']+)';/gm;
/** Without those of types, which are gone when the code runs. */
const VALUE_IMPORT = /^(?:import|export)\s(?!type\s)(?:[^'";]*?\sfrom\s)?'(\.[^']+)';/gm;

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
const imports = new Map(files.map((file) => [file, importsOf(file, IMPORT)]));
const valueImports = new Map(files.map((file) => [file, importsOf(file, VALUE_IMPORT)]));

function importsOf(file: string, pattern: RegExp): string[] {
  const text = readFileSync(join(SRC, file), 'utf8');
  return [...text.matchAll(pattern)].map(([, path = '']) => normalize(join(dirname(file), path)));
}

const roomOf = (file: string): string => file.split('/')[0] as string;

/** All files that importing this one brings along. @param passes whether to follow what a file imports. */
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

const WIDE_COMMENT = /^(?=.{121}) *(?:\/[/*]|\* )/m;

const linesOf = (file: string): number => readFileSync(join(SRC, file), 'utf8').split('\n').length - 1;

/** @param chosen only the files for which this is true. */
const countLines = (chosen: (file: string) => boolean = () => true): number =>
  files.filter(chosen).reduce((lines, file) => lines + linesOf(file), 0);

it('has comments of at most 120 columns', () => {
  const wide = files.filter((file) => WIDE_COMMENT.test(readFileSync(join(SRC, file), 'utf8')));
  expect(wide).toEqual([]);
});

it('has no more lines than it may have', () => {
  expect(countLines()).toBeLessThanOrEqual(MOST_LINES);
});

it('has a ceiling for each room', () => {
  const folders = ROOMS.filter((room) => !room.endsWith('.ts'));
  expect(Object.keys(MOST_LINES_OF_ROOMS).toSorted()).toEqual(folders.toSorted());
});

it.each(Object.entries(MOST_LINES_OF_ROOMS))('has %s in at most %i lines', (room, most) => {
  expect(countLines((file) => roomOf(file) === room)).toBeLessThanOrEqual(most);
});

it('has requests of Hono in routes and middleware only: below them, everything is a port', () => {
  const above = new Set(['worker.ts', 'routes', 'middleware']);
  const below = files.filter((file) => !above.has(roomOf(file)));
  expect(below.filter((file) => /from 'hono'/.test(readFileSync(join(SRC, file), 'utf8')))).toEqual([]);
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
  ['configuration', /\bparseConfig\(/, 'configured.ts'],
  ['client', /\bnew HttpClient\(/, 'configured.ts'],
  ['log', /\bcreateLogger\(/, 'log.ts'],
])('opens a %s in one place', (_what, opening, place) => {
  const opens = (file: string): boolean =>
    opening.test(readFileSync(join(SRC, file), 'utf8').replaceAll(/^export function.*/gm, ''));
  expect(files.filter(opens)).toEqual([place]);
});
