/**
 * Pushes of any shape: histories with merges, roots and messages of any bytes, in packs that store
 * their objects whole or as deltas of both kinds, in any order; and what must become of them.
 *
 * What is expected is computed from the plan of a history, never by reading it back.
 */
import * as fc from 'fast-check';
import { commitContent, oidNumber, tagContent, treeContent } from './objects.ts';
import { buildPack, type Entry, makeDelta, type ObjectType, oidOf } from './pack-builder.ts';

/** The commit that every history stands on. The host has it. */
export const UPSTREAM_COMMIT = Buffer.from(
  [
    'tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904',
    'author Maintainer <maintainer@example.com> 1600000000 +0000',
    'committer Maintainer <maintainer@example.com> 1600000000 +0000',
    '',
    'Upstream\n',
  ].join('\n'),
);
export const UPSTREAM = oidOf('commit', UPSTREAM_COMMIT);

/** In upstream's repository, besides: the base of thin packs. */
export const UPSTREAM_BLOB = Buffer.from('a file of upstream\n'.repeat(20));

export const BOT = { name: 'gitveil-bot', email: 'anonymous@gitveil.invalid' };
export const COMMITTED_AT = 1_800_000_000;

interface PlannedCommit {
  readonly oid: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly encoding: string | null;
  readonly message: Uint8Array;
}

interface PlannedObject {
  readonly type: ObjectType;
  readonly oid: string;
  readonly content: Uint8Array;
}

export interface RandomPush {
  readonly pack: Buffer;
  readonly tip: string;
  /** In every pack that is sent on, as they are. */
  readonly treesAndBlobs: readonly PlannedObject[];
  readonly commits: ReadonlyMap<string, PlannedCommit>;
}

export interface PushShape {
  /** Ref-deltas of trees and blobs may stand before their base. */
  readonly forwardBases: boolean;
  /** The same for commits and tags. */
  readonly lateCommits?: boolean;
  /** NUL in a message: some readers refuse it. */
  readonly nul: boolean;
  /** Some blobs are deltas of one that only upstream has. */
  readonly thin: boolean;
}

const nat = fc.nat(1000);

/** Headers that must not survive; `encoding` must. */
const HEADERS = [
  `gpgsig -----BEGIN PGP SIGNATURE-----\n \n Ada Lovelace\n -----END PGP SIGNATURE-----\n`,
  `mergetag object ${oidNumber(1)}\n type commit\n tag v1\n tagger Ada Lovelace <ada@example.org> 1 +0530\n`,
  'HG:extra Charles Babbage\n',
];

function planOf(shape: PushShape) {
  const message = fc.oneof(
    fc.uint8Array({ maxLength: 80 }).map((bytes) => (shape.nul ? bytes : bytes.filter((byte) => byte > 0))),
    fc.string({ unit: 'grapheme', maxLength: 60 }).map((text) => Buffer.from(text.replaceAll('\0', ''))),
  );
  const storage = fc.record({
    kind: fc.constantFrom('whole', 'ofs-delta', 'ref-delta'),
    base: nat,
    level: fc.constantFrom(0, 1, 6, 9),
    paddedSize: fc.boolean(),
    position: nat,
  });
  return fc.record({
    blobs: fc.array(fc.record({ bytes: fc.uint8Array({ maxLength: 120 }), after: nat }), {
      minLength: 1,
      maxLength: 6,
    }),
    trees: fc.array(fc.array(nat, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 }),
    commits: fc.array(
      fc.record({
        tree: nat,
        parents: fc.array(nat, { maxLength: 3 }),
        message,
        headers: fc.subarray(HEADERS),
        encoding: fc.constantFrom(null, 'ISO-8859-1', 'x-none'),
        date: fc.constantFrom(0, 1_500_000_000, 1_700_000_000),
      }),
      { minLength: 1, maxLength: 8 },
    ),
    tags: fc.array(fc.record({ target: nat, message }), { maxLength: 2 }),
    storages: fc.array(storage, { minLength: 1, maxLength: 20 }),
    commitsFirst: fc.boolean(),
  });
}

type Plan = ReturnType<typeof planOf> extends fc.Arbitrary<infer T> ? T : never;

export function randomPush(shape: PushShape): fc.Arbitrary<RandomPush> {
  return planOf(shape).map((plan) => carryOut(plan, shape));
}

function carryOut(plan: Plan, shape: PushShape): RandomPush {
  const blobs: Uint8Array[] = [];
  // Later blobs often hold earlier ones, so that deltas copy and insert.
  for (const { bytes, after } of plan.blobs)
    blobs.push(Buffer.concat([blobs[after % 7] ?? new Uint8Array(0), bytes]));
  const trees = plan.trees.map((files) =>
    treeContent(
      files.map((file, index) => ({
        name: `file-${index}`,
        oid: oidOf('blob', blobs[file % blobs.length] as Uint8Array),
      })),
    ),
  );
  const treesAndBlobs = unique([
    ...blobs.map((c) => planned('blob', c)),
    ...trees.map((c) => planned('tree', c)),
  ]);
  const commits = commitsOf(plan, trees);
  const commitOids = [...commits.planned.keys()];
  const tags = plan.tags.map(({ target, message }) =>
    planned('tag', tagContent(commitOids[target % commitOids.length] as string, 'v1', message)),
  );
  const objects = [...commits.objects, ...tags, ...treesAndBlobs];
  const thinBlobs = shape.thin
    ? unique(
        plan.blobs.map(({ bytes }) =>
          planned('blob', Buffer.concat([UPSTREAM_BLOB, bytes, Buffer.from('.')])),
        ),
      )
    : [];
  return {
    pack: buildPack([...entriesOf(objects, plan, shape), ...thinBlobs.map(thinEntry)]).bytes,
    tip: commits.objects.at(-1)?.oid as string,
    treesAndBlobs: [...treesAndBlobs, ...thinBlobs],
    commits: commits.planned,
  };
}

function commitsOf(plan: Plan, trees: readonly Uint8Array[]) {
  const objects: PlannedObject[] = [];
  const plannedCommits = new Map<string, PlannedCommit>();
  for (const { tree, parents, message, headers, encoding, date } of plan.commits) {
    const candidates = [UPSTREAM, ...objects.map(({ oid }) => oid)];
    const fields = {
      tree: oidOf('tree', trees[tree % trees.length] as Uint8Array),
      parents: [...new Set(parents.map((parent) => candidates[parent % candidates.length] as string))],
      message,
    };
    const content = commitContent({
      ...fields,
      author: `Ada Lovelace <ada@example.org> ${date} +0530`,
      committer: `Charles Babbage <charles@example.org> ${date} -0330`,
      headers: headers.join('') + (encoding === null ? '' : `encoding ${encoding}\n`),
    });
    const object = planned('commit', content);
    objects.push(object);
    plannedCommits.set(object.oid, { oid: object.oid, ...fields, encoding });
  }
  return { objects, planned: plannedCommits };
}

function planned(type: ObjectType, content: Uint8Array): PlannedObject {
  return { type, oid: oidOf(type, content), content };
}

function thinEntry({ content }: PlannedObject): Entry {
  return { type: 'ref-delta', base: oidOf('blob', UPSTREAM_BLOB), delta: makeDelta(UPSTREAM_BLOB, content) };
}

function unique(objects: readonly PlannedObject[]): PlannedObject[] {
  return [...new Map(objects.map((object) => [object.oid, object])).values()];
}

/** The pack's entries in their order, each stored as the plan says where that is possible. */
function entriesOf(objects: readonly PlannedObject[], plan: Plan, shape: PushShape): Entry[] {
  const placed = objects.map((object, index) => {
    const storage = plan.storages[index % plan.storages.length] as Plan['storages'][number];
    const isFirst = plan.commitsFirst && (object.type === 'commit' || object.type === 'tag');
    return { object, index, storage, key: isFirst ? -1 : (storage.position * (index + 1)) % 101 };
  });
  const ordered = placed.toSorted((a, b) => a.key - b.key);
  const entries: Entry[] = [];
  for (const [at, { object, index, storage }] of ordered.entries()) {
    const { kind, level, paddedSize } = storage;
    const options = { zlib: { level }, paddedSize };
    const isKept = object.type === 'commit' || object.type === 'tag';
    const mustBeBefore = kind === 'ofs-delta' || (isKept ? shape.lateCommits !== true : !shape.forwardBases);
    // A base is older in the plan as well, so that no two objects are each other's.
    const bases = (mustBeBefore ? ordered.slice(0, at) : ordered).filter(
      (other) => other.object.type === object.type && other.index < index,
    );
    const base = bases[storage.base % Math.max(1, bases.length)];
    // Git takes no delta of fewer than four bytes, and so none that makes an empty object.
    if (kind === 'whole' || base === undefined || object.content.byteLength === 0) {
      entries.push({ ...object, ...options });
      continue;
    }
    const delta = makeDelta(base.object.content, object.content);
    entries.push(
      kind === 'ofs-delta'
        ? { type: kind, base: ordered.indexOf(base), delta, ...options }
        : { type: kind, base: base.object.oid, delta, ...options },
    );
  }
  return entries;
}

/** Computes what the commits that the tip reaches must become, by their new ids. */
export function expectedCommits({ commits, tip }: RandomPush): {
  tip: string;
  contents: Map<string, Buffer>;
} {
  const renamed = new Map<string, string>();
  const contents = new Map<string, Buffer>();
  const rename = (oid: string): string => {
    const commit = commits.get(oid);
    if (commit === undefined) return oid;
    const known = renamed.get(oid);
    if (known !== undefined) return known;
    const who = `${BOT.name} <${BOT.email}> ${COMMITTED_AT} +0000`;
    const content = Buffer.concat([
      Buffer.from(`tree ${commit.tree}\n`),
      ...[...new Set(commit.parents.map(rename))].map((parent) => Buffer.from(`parent ${parent}\n`)),
      Buffer.from(`author ${who}\ncommitter ${who}\n`),
      Buffer.from(commit.encoding === null ? '\n' : `encoding ${commit.encoding}\n\n`),
      commit.message,
    ]);
    const newOid = oidOf('commit', content);
    renamed.set(oid, newOid);
    contents.set(newOid, content);
    return newOid;
  };
  return { tip: rename(tip), contents };
}
