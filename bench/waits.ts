/**
 * `npx node bench/waits.ts [REPOSITORY|CHANGELOG...]`: how many honest pushes wait because of a
 * warning, and how many are refused. Reads this repository, other repositories, and files that
 * packages bring along: the output of `git log`, perhaps compressed and with `--stat` (Debian:
 * /usr/share/doc/PACKAGE/changelog.gz). Of the latter, a repository is made that has these
 * messages, authors and paths, but other contents.
 *
 * Each run of 1 to 20 commits of one author, without merges, counts as a push that ends at one of
 * the newest 300 commits, in the steps below. What it stands on is upstream's. Sign-offs of one's
 * own are replaced, as the answer advises; those of others were added when it was applied.
 */
import { readFileSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Finding } from '../src/words/finding.ts';
import { data, fastImport } from './support/fast-import.ts';
import { git } from './support/git.ts';
import { LocalUpstream } from './support/judging.ts';
import { Workspace } from './support/workspace.ts';

const MOST_COMMITS = 300;
/** As many again of a log are upstream's, so that its conventions are known. */
const MOST_IMPORTED = 5_000;
const LENGTHS = [1, 2, 3, 5, 10, 20];

/** Writes commits for git-fast-import, the oldest first. @param log the output of `git log`. */
function* imported(log: string): Generator<string> {
  const entries = log.split(/^commit (?=[0-9a-f]{40})/m).slice(1, MOST_IMPORTED);
  for (const [number, entry] of entries.toReversed().entries()) {
    const [, author = ''] = /^Author: *(.*>)$/m.exec(entry) ?? [];
    const [, date = ''] = /^Date: *(.*)$/m.exec(entry) ?? [];
    const [text, paths] = partsOf(entry.slice(entry.indexOf('\n\n') + 2));
    // Whoever applies a patch signs it off, too.
    const message = text.replaceAll(/^Signed-off-by: (.*)\n/gm, (line, by) => (by === author ? line : ''));
    const person = `${author} ${Math.floor(Date.parse(date) / 1000)} +0000`;
    // What is merged stands beside it.
    if (/^Merge: /m.test(entry) || author === '' || Number.isNaN(Date.parse(date))) continue;
    yield `commit refs/heads/main\nauthor ${person}\ncommitter ${person}\n${data(message)}`;
    yield* paths.map((path) => `M 100644 inline ${path}\n${data(`Content ${number}\n`)}`);
  }
}

/** Parts a message from the list of changed files below it, whose long paths are not whole. */
function partsOf(text: string): readonly [message: string, paths: readonly string[]] {
  const lines = text.split('\n');
  const message = lines.filter((line) => line.startsWith('    ') || line === '');
  const listed = lines.flatMap((line) => /^ ([\w.-][\w./+-]*) +\| /.exec(line)?.[1] ?? []);
  return [
    `${message
      .map((line) => line.slice(4))
      .join('\n')
      .trim()}\n`,
    listed.filter((path) => !path.startsWith('...')),
  ];
}

/** Finds the last commits of pushes, and the commits that they stand on. */
function* pushesIn({ commits }: LocalUpstream): Generator<readonly [base: string, tip: string]> {
  for (const tip of [...commits.values()].slice(0, MOST_COMMITS)) {
    let at = tip;
    for (let length = 1; length <= Math.max(...LENGTHS); length++) {
      const [base, ...others] = at.parents;
      const next = commits.get(base ?? '');
      if (at.author !== tip.author || next === undefined || others.length > 0) break;
      if (LENGTHS.includes(length)) yield [next.oid, tip.oid];
      at = next;
    }
  }
}

/**
 * A kind of its own, because it depends on what people are called: `words` warns where a login is a
 * word of the project.
 */
const NOT_FOR_WORDS = 'waits, not only for words';

/** Shares of pushes, by the severity and the code of what was found in each. */
class Counted {
  pushes = 0;
  readonly #codes = new Map<string, number>();
  readonly #examples = new Map<string, Set<string>>();

  add(findings: readonly Finding[]): void {
    this.pushes += 1;
    const told = findings.filter(({ severity }) => severity !== 'say');
    for (const { severity, code, lines } of told) {
      const examples = this.#examples.get(`${severity} ${code}`) ?? new Set();
      if (examples.size < 30) examples.add(lines.join(' / '));
      this.#examples.set(`${severity} ${code}`, examples);
    }
    const severities = new Set(told.map(({ severity }) => severity));
    // What is refused does not wait.
    const end = severities.has('refuse') ? 'refused' : severities.has('warn') ? 'waits' : null;
    const names = new Set(told.map(({ severity, code }) => `${severity} ${code}`));
    if (end === 'waits' && told.some(({ code }) => code !== 'words')) names.add(NOT_FOR_WORDS);
    for (const name of end === null ? names : [end, ...names])
      this.#codes.set(name, 1 + (this.#codes.get(name) ?? 0));
  }

  share(name: string): string {
    return `${((100 * (this.#codes.get(name) ?? 0)) / this.pushes).toFixed(2)} %`;
  }

  /** Each kind with its share and examples, the most frequent first. */
  *lines(): Generator<string> {
    const kinds = [...this.#codes].toSorted(([, a], [, b]) => b - a);
    for (const [kind] of kinds) {
      yield `${this.share(kind)} ${kind}`;
      for (const example of this.#examples.get(kind) ?? []) yield `    ${example}`;
    }
  }
}

async function upstreamOf(path: string, workspace: Workspace): Promise<LocalUpstream> {
  if (statSync(path).isDirectory()) return LocalUpstream.open(path);
  const bytes = readFileSync(path);
  const log = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
  const folder = workspace.folder('history');
  await git(folder, ['init', '--quiet', '--bare', '--initial-branch=main']);
  await fastImport(folder, imported(log));
  const ids = Array.from(log.matchAll(/^commit ([0-9a-f]{40})/gm), ([, oid = '']) => oid);
  return LocalUpstream.open(folder, ids);
}

/** Judges a push, and signs it off where the answer tells to. */
async function judged(upstream: LocalUpstream, base: string, tip: string): Promise<readonly Finding[]> {
  const findings = await upstream.judged(base, tip);
  const isTold = findings.some(({ lines }) => lines.some((line) => line.includes('-o sign-off')));
  return isTold ? upstream.judged(base, tip, 'sign-off') : findings;
}

const workspace = new Workspace();
console.log('| history | pushes | refused | waits |\n|---|---|---|---|');
const details: string[] = [];
for (const path of ['.', ...process.argv.slice(2)]) {
  const upstream = await upstreamOf(path, workspace);
  const counted = new Counted();
  for (const [base, tip] of pushesIn(upstream)) counted.add(await judged(upstream, base, tip));
  const name = path === '.' ? 'this repository' : `${basename(dirname(path))}/${basename(path)}`;
  console.log(`| ${name} | ${counted.pushes} | ${counted.share('refused')} | ${counted.share('waits')} |`);
  details.push('', name, ...counted.lines());
}
console.log(details.join('\n'));
