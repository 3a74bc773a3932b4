/**
 * A pack with the shape of a real repository's: tens of thousands of small objects, most of them deltas, made by git from a
 * synthetic history. The same numbers always give the same bytes from the same git; it is made once and kept in the
 * system's folder for temporary files, since git needs about a minute for it.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';

const FILES = 9_000;
const FOLDERS = 120;
const WORDS = 4_000;
const LETTERS = 'etaoinshrdlucmfwypvbgkqjxz';

export async function syntheticPack(commits: number): Promise<Uint8Array> {
  const kept = join(tmpdir(), `gitveil-zlib-walker-${commits}.pack`);
  if (!existsSync(kept)) {
    const repository = mkdtempSync(join(tmpdir(), 'gitveil-bench-'));
    try {
      await makeRepository(repository, commits);
      const folder = join(repository, 'objects/pack');
      renameSync(
        join(
          folder,
          readdirSync(folder).find((name) => name.endsWith('.pack'))!,
        ),
        kept,
      );
    } finally {
      rmSync(repository, { recursive: true });
    }
  }
  return readFileSync(kept);
}

async function makeRepository(repository: string, commits: number): Promise<void> {
  git(['init', '--quiet', '--bare', repository]);
  const importer = spawn('git', ['-C', repository, 'fast-import', '--quiet'], {
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  for (const part of history(commits)) await write(importer.stdin, part);
  importer.stdin.end();
  const [status] = (await once(importer, 'close')) as [number];
  if (status !== 0) throw new Error('git fast-import failed');
  git(['-C', repository, '-c', 'pack.threads=1', 'repack', '--quiet', '-a', '-d', '-f']);
}

function git(args: readonly string[]): void {
  if (spawnSync('git', args, { stdio: 'inherit' }).status !== 0)
    throw new Error(`git ${args.join(' ')} failed`);
}

async function write(stream: Writable, text: string): Promise<void> {
  if (!stream.write(text)) await once(stream, 'drain');
}

/** A `git fast-import` stream: one commit with all files, then commits that change a few lines of one to three of them. */
function* history(commits: number): Generator<string> {
  const random = randomFrom(20_260_101);
  const vocabulary = Array.from({ length: WORDS }, () => word(random));
  const files = Array.from({ length: FILES }, () => {
    const length = 20 + Math.floor(600 * random() ** 3);
    return Array.from({ length }, () => line(random, vocabulary));
  });
  for (let commit = 0; commit <= commits; commit++) {
    const message = Array.from({ length: 2 + Math.floor(8 * random()) }, () => line(random, vocabulary)).join(
      '\n',
    );
    const name = `Author ${commit % 97}`;
    const person = `${name} <author.${commit % 97}@example.org> ${1_500_000_000 + 3_601 * commit} +0100`;
    yield `commit refs/heads/main\nauthor ${person}\ncommitter ${person}\n${data(message)}`;
    if (commit === 0) {
      for (let file = 0; file < FILES; file++) yield change(file, files[file]!);
      continue;
    }
    for (let changes = 1 + Math.floor(3 * random()); changes > 0; changes--) {
      const file = Math.floor(FILES * random() ** 2);
      const lines = files[file]!;
      for (let hunks = 1 + Math.floor(4 * random()); hunks > 0; hunks--) {
        const length = 1 + Math.floor(24 * random() ** 2);
        const added = Array.from({ length }, () => line(random, vocabulary));
        lines.splice(Math.floor(lines.length * random()), Math.floor(length * 1.6 * random()), ...added);
      }
      yield change(file, lines);
    }
  }
}

function change(file: number, lines: readonly string[]): string {
  return `M 100644 inline src/part-${file % FOLDERS}/file-${file}.c\n${data(`${lines.join('\n')}\n`)}`;
}

function data(text: string): string {
  return `data ${text.length}\n${text}\n`;
}

function word(random: () => number): string {
  const length = 2 + Math.floor(9 * random() ** 1.5);
  return Array.from({ length }, () => LETTERS[Math.floor(LETTERS.length * random() ** 2)]!).join('');
}

/** A line that looks like code: indentation, words of which few are frequent, and punctuation between them. */
function line(random: () => number, vocabulary: readonly string[]): string {
  let text = '\t'.repeat(Math.floor(3 * random()));
  for (let words = 1 + Math.floor(8 * random()); words > 0; words--) {
    text += vocabulary[Math.floor(vocabulary.length * random() ** 3)]!;
    text += random() < 0.6 ? ' ' : '();->_=,*&'[Math.floor(10 * random())]!;
  }
  return text + (random() < 0.7 ? ';' : '');
}

/** Marsaglia's xorshift: the same numbers on every machine. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
