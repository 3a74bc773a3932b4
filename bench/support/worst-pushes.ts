/**
 * Makes the pushes that cost most for their bytes: each as large as the limits of a pack allow, and
 * full of one thing that a search looks for.
 */
import { createHash, randomBytes } from 'node:crypto';
import { commitContent, treeContent } from '../../test/support/objects.ts';
import {
  buildPack,
  copyInstruction,
  deltaSize,
  type Entry,
  insertInstructions,
  oidOf,
} from '../../test/support/pack-builder.ts';
import { HOSTILE_MESSAGES } from '../../test/support/hostile-messages.ts';
import * as parts from '../../test/support/worst-parts.ts';
import { randomFrom } from './random.ts';

const MiB = 1024 * 1024;
/**
 * Longest parts that are used. Longer ones come less often in the same size, so short ones are the
 * worst.
 */
const LONGEST_PART = 6;
const IN_FILES = [
  ...parts.IN_FILES.filter(({ length }) => length <= LONGEST_PART),
  ...parts.WHOLE_CREDENTIALS,
];
const IN_MESSAGES = parts.IN_MESSAGES.filter(({ length }) => length <= LONGEST_PART);
const MOST_OF_AN_OBJECT = 9_500_000;
/**
 * Bytes that may be inflated in addition to a multiple of those that have arrived
 * (src/git/pack/memory-limits.ts).
 */
const FREE_FILES = 12 * MiB;
const FREE_DELTAS = 5 * MiB;
const FREE_COMMITS = MiB;
const TIMES = 16;
const TIMES_OF_DELTAS = 8;
const TIMES_OF_COMMITS = 4;
/**
 * Bytes that the limits leave to other entries, and by which a message may exceed its planned
 * length.
 */
const SLACK = 200_000;
const AUTHOR = 'Ada Lovelace <contributor@users.noreply.github.com> 1700000000 +0000';

/** Objects of a push, except its root folder. */
interface Work {
  readonly files?: readonly Buffer[];
  readonly names?: readonly string[];
  readonly deltas?: readonly Buffer[];
  readonly messages?: readonly (string | Uint8Array)[];
  /** Authors of the commits, in their order. */
  readonly authors?: readonly string[];
}

/**
 * Makes the objects of a push.
 * @param room bytes of each kind that may be inflated.
 */
type Make = (room: { readonly files: number; readonly deltas: number; readonly commits: number }) => Work;

const full = (part: string, bytes: number): Buffer => Buffer.alloc(bytes, Buffer.from(part, 'latin1'));

/** Makes as many objects as fit, of ten megabytes at most. */
function split<T>(
  bytes: number,
  make: (size: number, index: number) => T,
  mostBytes = MOST_OF_AN_OBJECT,
): T[] {
  const made: T[] = [];
  for (let left = bytes; left > 0 || made.length === 0; left -= mostBytes)
    made.push(make(Math.max(1_000, Math.min(left, mostBytes)), made.length));
  return made;
}

const inFiles =
  (part: string): Make =>
  ({ files }) => ({
    files: split(files, (size, index) => {
      const file = full(part, size);
      file.write(`${index}\n`);
      return file;
    }),
  });

const inDeltas =
  (part: string): Make =>
  ({ deltas }) => ({
    files: [Buffer.from('x')],
    deltas: split(deltas, (size) => {
      // An instruction inserts 127 bytes, and takes one byte itself.
      const inserted = Math.floor((size * 127) / 128) - 100;
      return Buffer.concat([deltaSize(1), deltaSize(inserted), insertInstructions(full(part, inserted))]);
    }),
  });

/** Deltas of this size, of instructions that copy a byte each. */
const inCopies =
  (mostBytes: number): Make =>
  ({ deltas }) => ({
    files: [Buffer.from('x')],
    deltas: split(
      deltas,
      (size) => {
        const copies = Math.floor(size / 2) - 10;
        const instructions = Buffer.alloc(2 * copies, copyInstruction(0, 1));
        return Buffer.concat([deltaSize(1), deltaSize(copies), instructions]);
      },
      mostBytes,
    ),
  });

const inMessages =
  (make: (bytes: number) => string | Uint8Array): Make =>
  ({ commits }) => ({ messages: split(commits, (size) => make(size)) });

/** As many as are searched for in all forms. */
const PEOPLE = Array.from({ length: 60 }, (_, at) => {
  const digits = createHash('sha1').update(`${at}`).digest('hex').replaceAll(/\d/g, 'x');
  return `${digits.slice(0, 7)} ${digits.slice(7, 16)} <${digits.slice(16, 24)}@${digits.slice(24, 30)}.example>`;
});
/** Names that are under way in many ways at once, wherever a word ends. */
const ALIKE = [0, 1, 2, 3].map((at) => `a aaa a aaa a aaa a aaa${'b'.repeat(at)} <a.a.aa@a.a${at}.aa>`);

/** Bytes that are drawn; compressed, they arrive as a megabyte at most. */
const MOST_DRAWN = 4_000_000;

/** Draws from a few choices. Each draw takes some bits, compressed. */
function drawn(choices: readonly string[], bytes: number): Buffer {
  const random = randomFrom(7);
  const length = Math.ceil((choices.length * bytes) / choices.join('').length);
  const all = Array.from({ length }, () => choices[Math.floor(random() * choices.length)]);
  return Buffer.from(all.join('')).subarray(0, bytes);
}

const inFilesBy =
  (people: readonly string[], choices: readonly string[]): Make =>
  ({ files }) => ({
    files: [drawn(choices, Math.min(files, MOST_DRAWN))],
    messages: people.map((_, at) => `Step ${at}\n`),
    authors: people,
  });

/** Makers by the things that a push is full of. */
const MAKES: Readonly<Record<string, Make>> = {
  ...Object.fromEntries(IN_FILES.map((part) => [`files of ${JSON.stringify(part)}`, inFiles(part)])),
  ...Object.fromEntries(IN_FILES.map((part) => [`inserts of ${JSON.stringify(part)}`, inDeltas(part)])),
  ...Object.fromEntries(
    IN_MESSAGES.map((part) => [
      `messages of ${JSON.stringify(part)}`,
      inMessages((bytes) => full(part, bytes)),
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(HOSTILE_MESSAGES).map(([kind, make]) => [`messages of ${kind}`, inMessages(make)]),
  ),
  'a file that names everybody': inFilesBy(PEOPLE, PEOPLE),
  'a file of what names are made of': inFilesBy(ALIKE, Array.from('aaaaa.')),
  'files of zeros': inFiles('\0'),
  'files of line feeds': inFiles('\n'),
  'copies of a byte': inCopies(MOST_OF_AN_OBJECT),
  // Small enough to be resolved and looked at closely.
  'copies of a byte, in many deltas': inCopies(1_000_000),
  'submodules of line feeds': ({ files }) => ({
    files: [full('\n', Math.min(files, 4_000_000))],
    names: ['.gitmodules'],
  }),
};

/** A push as it is sent: the pack and its tip. */
export interface WorstPush {
  readonly kind: string;
  readonly newId: string;
  readonly pack: Buffer;
}

/**
 * Makes the worst pushes.
 * @param bytes that arrive. Those that are not needed are a file that cannot be compressed.
 * @param tip of upstream.
 * @param kinds that are made. By default, all are.
 */
export function* worstPushes(
  bytes: number,
  tip: string,
  kinds: readonly string[] = [...Object.keys(MAKES), COMMITS],
): Generator<WorstPush> {
  for (const kind of kinds)
    yield { kind, ...(kind === COMMITS ? commitsOf(bytes, tip) : pushOf(MAKES[kind]!, bytes, tip)) };
}

const COMMITS = 'commits';
/** Least bytes of a pack for a commit, as a delta of the one before it. */
const BYTES_OF_A_COMMIT = 52;

/**
 * As many commits as fit. Each takes hardly more than its parent's id, which cannot be compressed.
 */
function commitsOf(bytes: number, tip: string): Omit<WorstPush, 'kind'> {
  const contents: Buffer[] = [];
  const entries: Entry[] = [];
  let parent = tip;
  for (let left = bytes; left > 0; left -= BYTES_OF_A_COMMIT) {
    const content = commitContent({ parents: [parent], author: AUTHOR, committer: AUTHOR, message: 'a' });
    const at = content.indexOf(parent);
    const end = at + parent.length;
    const delta = [
      deltaSize(content.length),
      deltaSize(content.length),
      copyInstruction(0, at),
      insertInstructions(Buffer.from(parent)),
      copyInstruction(end, content.length - end),
    ];
    const base = contents.length - 1;
    entries.push(
      base < 0 ? { type: 'commit', content } : { type: 'ofs-delta', base, delta: Buffer.concat(delta) },
    );
    contents.push(content);
    parent = oidOf('commit', content);
  }
  return { newId: parent, pack: buildPack(entries).bytes };
}

function pushOf(make: Make, bytes: number, tip: string) {
  let [fillerBytes, share] = [bytes, 1];
  for (;;) {
    const room = (free: number, times: number) => share * (free + times * fillerBytes - SLACK);
    const work = make({
      files: room(FREE_FILES, TIMES),
      deltas: room(FREE_DELTAS, TIMES_OF_DELTAS),
      commits: room(FREE_COMMITS, TIMES_OF_COMMITS),
    });
    const built = builtOf(work, fillerBytes, tip);
    const over = built.pack.length - bytes;
    if (over <= bytes / 20) return built;
    // The expensive parts are compressed to a hundredth, or to nothing. If that is too much, send
    // less of them.
    if (fillerBytes > 0) fillerBytes = Math.max(0, fillerBytes - over);
    else share *= (0.98 * bytes) / built.pack.length;
  }
}

function builtOf(
  { files = [], names = [], deltas = [], messages = ['Mend it\n'], authors = [] }: Work,
  fillerBytes: number,
  tip: string,
) {
  const filler = randomBytes(fillerBytes);
  const contents = [filler, ...files];
  const tree = treeContent(
    contents.map((content, at) => ({ name: names[at - 1] ?? `f${at}`, oid: oidOf('blob', content) })),
  );
  const commits: Buffer[] = [];
  for (const [at, message] of messages.entries()) {
    const parent = commits.at(-1);
    const author = authors[at] === undefined ? AUTHOR : `${authors[at]} 1700000000 +0000`;
    const parents = [parent === undefined ? tip : oidOf('commit', parent)];
    commits.push(commitContent({ tree: oidOf('tree', tree), parents, author, committer: author, message }));
  }
  const { bytes: pack } = buildPack([
    { type: 'blob', content: filler },
    ...commits.map((content): Entry => ({ type: 'commit', content })),
    { type: 'tree', content: tree },
    ...files.map((content): Entry => ({ type: 'blob', content })),
    ...deltas.map((delta): Entry => ({ type: 'ofs-delta', base: commits.length + 2, delta })),
  ]);
  return { newId: oidOf('commit', commits.at(-1)!), pack };
}
