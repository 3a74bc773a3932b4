/** Changes that leave with a delayed push, of which the host learns nothing by being asked. */
import { describe, expect, it } from 'vitest';
import { difference as differ } from '../../src/edit/lines.ts';
import { PlannedCommits } from '../../src/git/objects/planned-commits.ts';
import type { PlannedCommit } from '../../src/git/objects/stored-commit.ts';
import { encodeTree } from '../../src/git/objects/tree.ts';
import type { KeptObject } from '../../src/git/pack/kept-objects.ts';
import { type Changes, changesOf } from '../../src/edit/changes.ts';
import type { ReadObjects } from '../../src/upstream/tree-reader.ts';
import { CountedMemory } from '../support/counted-memory.ts';
import { commitContent } from '../support/objects.ts';
import { buildPack, type Entry, makeDelta, oidOf } from '../support/pack-builder.ts';
import { filesOnly } from '../support/stored-pack.ts';
import { exhaustive } from '../support/exhaustive.ts';

interface Folder {
  readonly [name: string]: string | Uint8Array | Folder | Special;
}
interface Special {
  readonly mode: string;
  readonly content?: string;
  readonly oid?: string;
}
type Known = Map<string, { readonly type: 'tree' | 'blob'; readonly content: Uint8Array }>;

const isSpecial = (value: Folder | Special): value is Special => typeof (value as Special).mode === 'string';
const some = (text: string, times: number): string =>
  Array.from({ length: times }, (_, at) => `${text} ${at}\n`).join('');

/** Adds all objects of a folder; answers its id. */
function store(folder: Folder, objects: Known): string {
  const put = (type: 'tree' | 'blob', content: Uint8Array): string => {
    const oid = oidOf(type, content);
    objects.set(oid, { type, content });
    return oid;
  };
  const entries = Object.entries(folder).map(([text, value]) => {
    const name = Buffer.from(text);
    if (typeof value === 'string' || value instanceof Uint8Array)
      return { name, mode: '100644', oid: put('blob', Buffer.from(value)) };
    if (!isSpecial(value)) return { name, mode: '40000', oid: store(value, objects) };
    return { name, mode: value.mode, oid: value.oid ?? put('blob', Buffer.from(value.content ?? '')) };
  });
  const sorted = entries.toSorted((a, b) => (a.name.toString() < b.name.toString() ? -1 : 1));
  return put('tree', encodeTree(sorted));
}

interface Story {
  readonly old: Folder | null;
  readonly now: Folder;
  /** Whether the pack has all as deltas of what upstream has. */
  readonly deltas?: boolean;
  /** The content that its files are deltas of; upstream does not have it. */
  readonly base?: string;
  /** The folder of another commit of upstream that the push has merged. */
  readonly other?: Folder;
  /** The folder of an earlier commit of the push. */
  readonly before?: Folder;
  /** Entries that its pack has besides. */
  readonly more?: readonly Entry[];
  /** Objects that the pack leaves out besides upstream's. */
  readonly without?: readonly string[];
}

async function changes({
  old,
  now,
  deltas = false,
  without = [],
  other,
  before,
  base: unknown,
  more = [],
}: Story) {
  const [upstream, pushed]: [Known, Known] = [new Map(), new Map()];
  const oldTree = old === null ? null : store(old, upstream);
  const beforeTree = before === undefined ? null : store(before, pushed);
  const tree = store(now, pushed);
  const boundary = oldTree === null ? null : commitContent({ tree: oldTree });
  const boundaryOid = boundary === null ? null : oidOf('commit', boundary);
  const merged =
    other === undefined ? null : commitContent({ tree: store(other, upstream), message: 'Other\n' });
  const commitsUpstream = new Map(
    [boundary, merged].flatMap((content) =>
      content === null ? [] : [[oidOf('commit', content), content] as const],
    ),
  );
  const fresh = [...pushed].filter(([oid]) => !upstream.has(oid) && !without.includes(oid));
  const entries = fresh.map(([, { type, content }]): Entry => {
    if (unknown !== undefined && type === 'blob') {
      const base = Buffer.from(unknown);
      return { type: 'ref-delta', base: oidOf('blob', base), delta: makeDelta(base, content) };
    }
    const [best] = [...upstream]
      .filter(([, base]) => deltas && base.type === type)
      .map(([base, { content: from }]) => ({ base, delta: makeDelta(from, content) }))
      .toSorted((a, b) => a.delta.length - b.delta.length);
    return best === undefined ? { type, content } : { type: 'ref-delta', base: best.base, delta: best.delta };
  });
  entries.push(...more);
  const asked: string[] = [];
  let requests = 0;
  const read: ReadObjects = async ({ wants }, maxBytes) => {
    asked.push(...wants);
    requests += 1;
    const found = wants.map((oid): KeptObject => {
      const commit = commitsUpstream.get(oid);
      if (commit !== undefined) return { oid, type: 'commit', content: commit };
      const object = upstream.get(oid);
      if (object === undefined) throw new Error(`the host was asked for ${oid}`);
      return { oid, type: object.type, content: object.content };
    });
    const bytes = found.reduce((sum, { content }) => sum + content.length, 0);
    return bytes > maxBytes ? null : new Map(found.map((kept) => [kept.oid, kept]));
  };
  const commits = new PlannedCommits();
  const commit: PlannedCommit = {
    tree,
    parents: boundaryOid === null ? [] : [boundaryOid],
    encoding: null,
    message: { bytes: Buffer.from('x\n'), mentions: [] },
  };
  commits.push({ ...commit, tree: beforeTree ?? oldTree ?? tree });
  commits.push({ ...commit, parents: [0] });
  const memory = new CountedMemory();
  const answer = await changesOf(
    { commits, boundary: [...commitsUpstream.keys()], pack: filesOnly(buildPack(entries).bytes) },
    read,
    memory,
    differ,
  );
  expect(memory.bytes).toBe(0);
  return { ...answer, asked, requests, texts: textsOf(answer), workedBytes: memory.workedBytes };
}

/** `changed a.txt: -old +new` */
function textsOf({ files }: Changes): string[] {
  const signs = { same: ' ', added: '+', removed: '-' } as const;
  return files.map(({ path, kind, difference, remarks }) => {
    const lines = (difference?.hunks ?? []).flatMap((hunk) =>
      hunk.filter((line) => line.kind !== 'same').map((line) => signs[line.kind] + line.text),
    );
    return [`${kind} ${path}:`, ...lines, ...remarks].join(' ');
  });
}

function many(text: string): Folder {
  return Object.fromEntries(
    Array.from({ length: 600 }, (_, at) => [`file${1000 + at}.txt`, `${text} ${at}\n`]),
  );
}

describe('the changes of a push', () => {
  it('are those of its newest commit, file by file', async () => {
    const old = { 'a.txt': 'one\ntwo\n', 'b.txt': 'b\n', docs: { 'c.txt': 'c\n', deep: { 'd.txt': 'd\n' } } };
    const now = {
      'a.txt': 'one\n2\n',
      'new.txt': 'new\n',
      docs: { 'c.txt': 'c\n', deep: { 'd.txt': 'D\n' }, fresh: { 'e.txt': 'e\n' } },
    };
    const { texts, gaps } = await changes({ old, now });
    expect(texts).toEqual([
      'changed a.txt: -two +2',
      'removed b.txt:',
      'changed docs/deep/d.txt: -d +D',
      'added docs/fresh/e.txt: +e',
      'added new.txt: +new',
    ]);
    expect(gaps).toEqual([]);
  });

  it('are found where the pack has only deltas of what upstream has', async () => {
    const text = some('a line of the text', 50);
    const old = { 'a.txt': text, docs: { 'c.txt': text } };
    const now = { 'a.txt': `${text}more\n`, docs: { 'c.txt': `less\n${text}` } };
    const { texts, gaps, asked } = await changes({ old, now, deltas: true });
    expect(texts).toEqual(['changed a.txt: +more', 'changed docs/c.txt: +less']);
    expect(gaps).toEqual([]);
    expect(asked).toHaveLength(new Set(asked).size);
  });

  it('are found where the pack has deltas of another commit that was merged', async () => {
    const others = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`z${100 + at}.txt`, `${at}\n`]));
    const { texts, gaps } = await changes({
      old: { 'a.txt': 'a\n' },
      other: { 'a.txt': 'a\n', ...others },
      now: { 'a.txt': 'A\n', ...others },
      deltas: true,
    });
    expect(texts.slice(0, 2)).toEqual([
      'changed a.txt: -a +A',
      'added z100.txt: The push does not contain its content: the code host must have it already, in another place or version.',
    ]);
    expect(texts).toHaveLength(31);
    expect(gaps).toEqual([
      'It merges several upstream commits, but is compared with only one, so the changes of the others are listed, too.',
    ]);
  });

  it('have all files of a history of its own', async () => {
    const { texts, asked } = await changes({ old: null, now: { 'a.txt': 'a\n', b: { 'c.txt': 'c\n' } } });
    expect(texts).toEqual(['added a.txt: +a', 'added b/c.txt: +c']);
    expect(asked).toEqual([]);
  });

  it('name links, modes and submodules', async () => {
    const commit = 'ab'.repeat(20);
    const old = {
      'run.sh': 'go\n',
      link: { mode: '120000', content: 'a' },
      sub: { mode: '160000', oid: 'cd'.repeat(20) },
    };
    const now = {
      'run.sh': { mode: '100755', content: 'go\n' },
      link: { mode: '120000', content: '/etc/passwd' },
      sub: { mode: '160000', oid: commit },
    };
    const { texts } = await changes({ old, now });
    expect(texts).toEqual([
      'changed link: -a +/etc/passwd It is a symbolic link to the path that is its content.',
      'changed run.sh: It is executable. Its mode changes from 100644 to 100755.',
      `changed sub: It is a submodule, at the commit ${commit}.`,
    ]);
  });

  it('name what was moved, and what the push does not hold', async () => {
    const old = { 'a.txt': 'a\n', docs: { 'c.txt': 'c\n' } };
    const now = { 'b.txt': 'a\n', manual: { 'c.txt': 'c\n' }, 'x.txt': 'elsewhere\n' };
    const { texts } = await changes({ old, now, without: [oidOf('blob', Buffer.from('elsewhere\n'))] });
    expect(texts).toEqual([
      'removed a.txt:',
      'added b.txt: It is the same as /a.txt upstream.',
      'removed docs/:',
      'added manual/: It is the same as /docs/ upstream.',
      'added x.txt: The push does not contain its content: the code host must have it already, in another place or version.',
    ]);
  });

  it('include what only an earlier commit has, as it becomes public, too', async () => {
    const { texts, gaps } = await changes({
      old: { 'a.txt': 'a\n', 'c.txt': 'c\n', docs: { 'd.txt': 'd\n' } },
      before: {
        'a.txt': 'first\n',
        'b.txt': 'hidden\n',
        // A name of its own for what upstream has.
        'jane.txt': 'c\n',
        docs: { 'd.txt': 'd\n', 'jane.txt': 'd\n' },
        of: { jane: { 'e.txt': 'e\n' } },
      },
      now: { 'a.txt': 'A\n', 'c.txt': 'c\n', docs: { 'd.txt': 'd\n' } },
    });
    expect(texts).toEqual([
      'changed a.txt: -a +A',
      'earlier a.txt: -a +first',
      'earlier b.txt: +hidden',
      'earlier docs/jane.txt: It is the same as /docs/d.txt upstream.',
      'earlier jane.txt: It is the same as /c.txt upstream.',
      'earlier of/jane/e.txt: +e',
    ]);
    expect(gaps).toEqual([]);
  });

  it('include what no commit has, as its pack leaves, too', async () => {
    const blob = Buffer.from('hidden\n');
    const folder = encodeTree([
      { name: Buffer.from('jane.txt'), mode: '100644', oid: oidOf('blob', Buffer.from('a\n')) },
    ]);
    const { texts } = await changes({
      old: { 'a.txt': 'a\n' },
      now: { 'a.txt': 'A\n' },
      more: [
        { type: 'blob', content: blob },
        { type: 'tree', content: folder },
      ],
    });
    expect(texts).toEqual([
      'changed a.txt: -a +A',
      `elsewhere ${oidOf('blob', blob)}: +hidden`,
      `elsewhere ${oidOf('tree', folder)}/: It is a folder with: jane.txt`,
    ]);
  });

  it('name only some entries of a folder that no commit has, if their names are long', async () => {
    const oid = oidOf('blob', Buffer.from('a\n'));
    const entry = (at: number) => ({
      name: Buffer.from(`${at}`.padEnd(4_000, '\u0001')),
      mode: '100644',
      oid,
    });
    const content = encodeTree(Array.from({ length: 900 }, (_, at) => entry(1_000 + at)));
    const { texts } = await changes({
      old: { a: 'a\n' },
      now: { a: 'A\n' },
      more: [{ type: 'tree', content }],
    });
    expect(texts.join('').length).toBeLessThan(600_000);
    expect(texts.at(-1)).toMatch(/, and \d+ more$/);
  });

  it('show a file that a submodule hides behind its id', async () => {
    const blob = Buffer.from('hidden\n');
    const oid = oidOf('blob', blob);
    const { texts } = await changes({
      old: { 'a.txt': 'a\n' },
      now: { 'a.txt': 'a\n', sub: { mode: '160000', oid } },
      more: [{ type: 'blob', content: blob }],
    });
    expect(texts).toEqual([
      `added sub: It is a submodule, at the commit ${oid}. That is the id of a file, or a folder, of the push.`,
      `elsewhere ${oid}: +hidden`,
    ]);
  });

  it('name a folder that is too large, and how large', async () => {
    const huge = Object.fromEntries(
      Array.from({ length: 4_500 }, (_, at) => [`${at}`.padEnd(1_000, 'x'), '']),
    );
    const { texts } = await changes({ old: { a: 'a\n' }, now: { a: 'b\n', huge } });
    expect(texts).toEqual([
      'changed a: -a +b',
      'added huge/: It is too large to be shown: 4,626,000 bytes.',
      `elsewhere ${oidOf('blob', Buffer.from(''))}:`,
    ]);
  });

  it('have modes and sizes, line ends and every byte', async () => {
    const { files } = await changes({
      old: { 'a.txt': 'a\n', 'b.txt': Buffer.from([0x62, 0x0a]) },
      now: {
        'a.txt': 'a\r\n',
        'b.txt': Buffer.from([0x62, 0xff, 0x0a]),
        'run.sh': { mode: '100755', content: 'go\n' },
      },
    });
    expect(files).toMatchObject([
      { path: 'a.txt', mode: '100644', bytes: 3 },
      { path: 'b.txt', remarks: ['It is not UTF-8: some bytes are written out.'] },
      { path: 'run.sh', mode: '100755', bytes: 3 },
    ]);
    const lines = files.map(({ difference }) => difference?.hunks.flat().map(({ text, end }) => text + end));
    expect(lines).toEqual([['a\n', 'a\r\n'], ['b\n', 'b\udcff\n'], ['go\n']]);
  });

  it('are never asked for by an id that upstream may not have', async () => {
    const { texts, gaps, asked } = await changes({
      old: { 'a.txt': 'a\n' },
      now: { 'a.txt': 'A secret\n' },
      base: 'Another secret\n',
    });
    expect(texts).toEqual([
      'changed a.txt: It is too large to be shown, or the push does not contain its content.',
    ]);
    expect(gaps).toEqual(['At least 1 of its files, or versions of them, could not be read.']);
    expect(asked).not.toContain(oidOf('blob', Buffer.from('Another secret\n')));
  });

  it('are a file that becomes a folder, and a folder that becomes a file', async () => {
    const old = { a: 'a\n', b: { 'c.txt': 'c\n' } };
    const now = { a: { 'd.txt': 'd\n' }, b: 'b\n' };
    expect((await changes({ old, now })).texts).toEqual([
      'removed a:',
      'added a/d.txt: +d',
      'added b: +b',
      'removed b/:',
    ]);
  });

  it('are only listed where they are no text, or too large', async () => {
    const large = some('a line of a large text', 5_000);
    const old = { 'grows.txt': large, 'shrinks.txt': large, 'picture.png': Buffer.from([1, 0, 2]) };
    const now = {
      'grows.txt': `${large}+`,
      'shrinks.txt': 'little\n',
      'picture.png': Buffer.from([1, 0, 3]),
    };
    const { texts } = await changes({ old, now });
    expect(texts).toEqual([
      `changed grows.txt: It is too large to be shown: ${(large.length + 1).toLocaleString('en')} bytes.`,
      'changed picture.png: It is not text.',
      expect.stringMatching(/^changed shrinks.txt: It is too large to be shown/),
    ]);
  });

  it('are bounded, and say so', async () => {
    const { files, gaps } = await changes({ old: many('old'), now: many('new') });
    expect(files).toHaveLength(600);
    expect(files.filter(({ difference }) => difference !== null)).toHaveLength(50);
    expect(gaps).toEqual(['There is too much to show everything: the last files are only listed.']);
  });

  it(
    'are compared up to a number of entries if one large folder stands at many places',
    exhaustive,
    async () => {
      const shared = Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`${10_000 + at}`, '']));
      const now = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`${100 + at}`, shared]));
      const { gaps, workedBytes } = await changes({ old: { a: 'a\n' }, now });
      const unlisted = gaps.find((gap) => gap.includes('not even listed')) ?? '';
      expect(Number(unlisted.replaceAll(/\D/g, ''))).toBeLessThan(80_000);
      expect(gaps).toContain('It changes too many folders to compare all of them.');
      expect(workedBytes).toBeGreaterThan(10_000_000);
    },
  );

  it('are compared up to a number of characters if names are long and folders deep', async () => {
    const entries = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`${1_000 + at}`, '']));
    const deep = Array.from({ length: 40 }).reduce<Folder>(
      (below) => ({ ...entries, ['x'.repeat(2_000)]: below }),
      {},
    );
    const { files, gaps } = await changes({ old: { a: 'a\n' }, now: deep });
    expect(files.reduce((sum, { path }) => sum + path.length, 0)).toBeLessThan(7_000_000);
    expect(gaps).toContain('It changes too many folders to compare all of them.');
  });

  it('are not read where upstream’s folder is too large', exhaustive, async () => {
    const huge = Object.fromEntries(
      Array.from({ length: 16_000 }, (_, at) => [`file${10_000 + at}.txt`, '']),
    );
    const { texts, gaps } = await changes({
      old: { a: 'a\n', huge },
      now: { a: 'b\n', huge: { 'only.txt': 'x\n' } },
    });
    expect(texts).toEqual(['changed a: -a +b', 'added huge/only.txt: +x']);
    expect(gaps).toEqual([
      'Upstream’s folder /huge/ is too large to be compared. Only new content is shown of it.',
    ]);
  });

  it('ask the host a bounded number of times, however deep its folders are', async () => {
    const [old = {}, now = {}] = ['old\n', 'new\n'].map((text) =>
      Array.from({ length: 400 }).reduce<Folder>((d) => ({ d }), { a: text }),
    );
    const { requests, gaps } = await changes({ old, now });
    expect(requests).toBeLessThan(70);
    expect(gaps.join()).toContain('is too large to be compared');
  });

  it('ask the host a bounded number of times, however often its folders are too large together', async () => {
    const names = Array.from({ length: 90 }, (_, at) => `${10_000 + at}`.repeat(600));
    const large = (text: string): Folder => Object.fromEntries(names.map((name) => [name, text]));
    const [old = {}, now = {}] = [large, (text: string): Folder => ({ b: text })].map((folder) =>
      Array.from({ length: 4 }, (_, level) => level).reduce<Folder>((a, level) => {
        const folders = Array.from({ length: 20 }, (_, at) => [`f${at}`, folder(`${level} ${at}`)]);
        return { a, ...Object.fromEntries(folders) };
      }, {}),
    );
    const { requests } = await changes({ old, now });
    expect(requests).toBeLessThan(70);
  });
});
