/**
 * Writes histories in the format of git-fast-import(1), the quickest way to make a repository of
 * any size.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { gitEnvironment } from '../../sandbox/git-command.ts';

export interface NewCommit {
  readonly ref: string;
  /** Parent, if it is not the ref's own tip. */
  readonly from?: string;
  /** Seconds since 1970. */
  readonly at: number;
  readonly message: string;
  /** Contents by path. A number stands for a blob that was written before. */
  readonly files: readonly (readonly [path: string, content: string | number])[];
}

const AUTHORS = 97;

/** Writes one commit; `number` chooses its author. */
export function commit({ ref, from, at, message, files }: NewCommit, number = 0): string {
  const author = number % AUTHORS;
  const person = `Author ${author} <author.${author}@example.org> ${at} +0100`;
  return [
    `commit ${ref}\nauthor ${person}\ncommitter ${person}\n${data(message)}`,
    from === undefined ? '' : `from ${from}\n`,
    ...files.map(([path, content]) =>
      typeof content === 'number'
        ? `M 100644 :${content} ${path}\n`
        : `M 100644 inline ${path}\n${data(content)}`,
    ),
  ].join('');
}

/**
 * Writes a blob with a number. git stores it as a delta of the one before it, if that is smaller.
 */
export function blob(number: number, content: string): string {
  return `blob\nmark :${number}\n${data(content)}`;
}

export const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`;

/**
 * Writes a stream of commits into a bare repository.
 * @param compression 1 is quick; git's own default, 6, makes packs of the usual shape.
 */
export async function fastImport(
  repository: string,
  stream: Iterable<string>,
  compression: 1 | 6 = 1,
): Promise<void> {
  const args = ['-c', `core.compression=${compression}`, 'fast-import', '--quiet', '--force'];
  const importer = spawn('git', ['-C', repository, ...args], {
    env: gitEnvironment(),
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  const ended = once(importer, 'close') as Promise<[number]>;
  for (const part of stream) if (!importer.stdin.write(part)) await once(importer.stdin, 'drain');
  importer.stdin.end();
  const [status] = await ended;
  if (status !== 0) throw new Error('git fast-import failed');
}
