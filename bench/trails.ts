/**
 * `npx node bench/trails.ts [CHANGELOG...]`: how many honest pushes are told of trails. Reads this
 * repository's history, and files that packages bring along: the output of `git log`, perhaps
 * compressed (Debian: /usr/share/doc/PACKAGE/changelog.gz).
 *
 * Each run of 1 to 20 commits among the newest 1,000 counts as a push. The commits before it are
 * upstream's, as far as a listing goes back.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Conventions } from '../src/git/search/conventions.ts';
import { UNCOUNTED } from '../src/git/memory.ts';
import { tellTrails } from '../src/leaks/trails.ts';

const MOST_COMMITS = 1_000;
const MOST_OF_A_PUSH = 20;
const LISTED_MS = 90 * 24 * 60 * 60_000;

interface Logged {
  readonly at: number;
  readonly message: Buffer;
}

/** Reads the output of `git log`, the newest commit first. */
function commitsOf(log: string): Logged[] {
  return log.split(/^commit (?=[0-9a-f]{40})/m).flatMap((entry) => {
    const [, date = ''] = /^Date: *(.*)$/m.exec(entry) ?? [];
    const lines = entry.slice(entry.indexOf('\n\n') + 2).split('\n');
    // Behind the message there may be a list of files.
    const message = lines.filter((line) => line.startsWith('    ') || line === '');
    const text = message.map((line) => line.slice(4)).join('\n');
    return date === '' ? [] : { at: Date.parse(date), message: Buffer.from(`${text.trim()}\n`) };
  });
}

/** Answers what the messages of a listing use with ids. @param commits the newest first. */
function conventionsOf(commits: readonly Logged[]): ReadonlySet<string> {
  const conventions = new Conventions();
  const newest = commits[0]?.at ?? 0;
  for (const { at, message } of commits)
    if (at > newest - LISTED_MS) conventions.add(Buffer.concat([Buffer.from('\n\n'), message]));
  return conventions.all;
}

interface Counted {
  pushes: number;
  warned: number;
  refused: number;
  readonly lines: Set<string>;
}

async function count(commits: readonly Logged[]): Promise<Counted> {
  const counted: Counted = { pushes: 0, warned: 0, refused: 0, lines: new Set() };
  const newest = Math.min(MOST_COMMITS, commits.length - MOST_OF_A_PUSH);
  const usualBefore = Array.from({ length: newest + MOST_OF_A_PUSH }, (_, at) =>
    conventionsOf(commits.slice(at)),
  );
  for (let last = 0; last < newest; last++) {
    for (let length = 1; length <= MOST_OF_A_PUSH; length++) {
      const usual = usualBefore[last + length] ?? new Set();
      const pushed = commits.slice(last, last + length);
      const texts = pushed.map(({ message }) => ({ where: () => '', text: message, isMessage: true }));
      const { refused, warned } = await tellTrails(texts, usual, UNCOUNTED);
      counted.pushes += 1;
      counted.warned += Number(warned.length > 0);
      counted.refused += Number(refused.length > 0);
      for (const line of [...refused, ...warned]) counted.lines.add(line);
    }
  }
  return counted;
}

const share = (part: number, all: number) => `${((100 * part) / all).toFixed(2)} %`;

function logOf(path: string): string {
  const bytes = readFileSync(path);
  return (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
}

const own = execFileSync('git', ['log', '-n', '4000'], { encoding: 'utf8', maxBuffer: 2 ** 30 });
const paths = process.argv.slice(2);
const histories = [
  ['this repository', own] as const,
  ...paths.map((path) => [`${basename(dirname(path))}/${basename(path)}`, logOf(path)] as const),
];
console.log('| history | pushes | refused | warned |\n|---|---|---|---|');
const examples: string[] = [];
for (const [name, log] of histories) {
  const { pushes, refused, warned, lines } = await count(commitsOf(log));
  console.log(`| ${name} | ${pushes} | ${share(refused, pushes)} | ${share(warned, pushes)} |`);
  examples.push(name, ...lines);
}
console.log(`\n${examples.join('\n')}`);
