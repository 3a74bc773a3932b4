/** Delayed pushes of any kind, as judging could make them. */
import * as fc from 'fast-check';
import { decodeEscaped, utf8 } from '../../src/git/bytes.ts';
import { PlannedCommits } from '../../src/git/objects/planned-commits.ts';
import type { PlannedCommit, PlannedText } from '../../src/git/objects/stored-commit.ts';
import type { KeptPush } from '../../src/push/delay/kept-push.ts';
import type { PushedWork } from '../../src/push/verdict.ts';

const oid = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => Buffer.from(bytes).toString('hex'));
const unicode = fc.string({ unit: 'grapheme', maxLength: 40 });
const anyBytes = fc.oneof(
  { weight: 10, arbitrary: fc.uint8Array({ maxLength: 60 }) },
  { weight: 10, arbitrary: unicode.map(utf8) },
  // More than one slab of ByteArrays has.
  { weight: 1, arbitrary: fc.constant(new Uint8Array(70_000).fill(0x61)) },
);
const encoding = fc.constantFrom(null, null, 'ISO-8859-1', 'Shift_JIS', 'x', 'a'.repeat(40));

/** A text with mentions of the first `count` commits, or of ones that were squashed away. */
function textOf(words: fc.Arbitrary<Uint8Array>, count: number): fc.Arbitrary<PlannedText> {
  const commit = count === 0 ? fc.constant(null) : fc.option(fc.nat(count - 1));
  const mention = fc.record({ length: fc.integer({ min: 7, max: 40 }), commit });
  return fc.tuple(words, fc.array(fc.tuple(mention, words), { maxLength: 3 })).map(([start, others]) => {
    const mentions = [];
    let bytes = Buffer.from(start);
    for (const [{ length, commit: number }, word] of others) {
      mentions.push({ start: bytes.length, length, commit: number });
      bytes = Buffer.concat([bytes, Buffer.from('0'.repeat(length)), word]);
    }
    return { bytes: new Uint8Array(bytes), mentions };
  });
}

/** Roots, chains, merges with any number of parents, each of this push or of upstream. */
export const plannedCommits: fc.Arbitrary<PlannedCommit[]> = fc.nat(6).chain((count) => {
  const commits = Array.from({ length: count + 1 }, (_, index) => {
    const parent = index === 0 ? oid : fc.oneof(oid, fc.nat(index - 1));
    const parents = fc.array(parent, { maxLength: 9 });
    return fc.record({ tree: oid, parents, encoding, message: textOf(anyBytes, index) });
  });
  return fc.tuple(...commits);
});

const name = fc.stringMatching(/^[\w.-]{1,39}$/);
const repositoryName = fc.record({ owner: name, name });
/** Not every name of a ref is UTF-8. */
const refName = fc
  .oneof(unicode, fc.uint8Array({ minLength: 1, maxLength: 20 }).map(decodeEscaped))
  .map((rest) => `refs/heads/${rest}`);
const ref = fc.record({ name: refName, oid });

const limits = fc.array(fc.record({ most: fc.nat(), withinMs: fc.nat() }), { maxLength: 2 });
const owed = fc.record({
  by: name,
  repository: fc.option(name),
  takesPart: fc.boolean(),
  windows: fc.array(fc.record({ kind: fc.constantFrom('address', 'prefix'), key: name, limits }), {
    maxLength: 2,
  }),
  push: fc.option(fc.record({ key: name, isAnother: fc.boolean() })),
});
const optionText = (count: number) => fc.option(textOf(unicode.map(utf8), count));

/** The commits in a list, so that two can be compared. */
export interface RandomKept extends Omit<KeptPush, 'work'> {
  readonly work: Omit<PushedWork, 'commits'> & { readonly commits: readonly PlannedCommit[] };
}

const works = plannedCommits.chain((commits) =>
  fc.record({
    base: ref,
    isBaseNamed: fc.boolean(),
    prHash: fc.option(name),
    hasKey: fc.boolean(),
    title: optionText(commits.length),
    description: optionText(commits.length),
    isDraft: fc.boolean(),
    isSignedOff: fc.boolean(),
    stripsTrails: fc.boolean(),
    stated: fc.record({ ai: fc.option(name), issue: fc.option(fc.nat()) }),
    commits: fc.constant(commits),
    upstream: fc.array(ref, { maxLength: 5 }),
    boundary: fc.oneof(
      { weight: 10, arbitrary: fc.array(oid, { maxLength: 3 }) },
      { weight: 1, arbitrary: oid.map((commit) => Array<string>(5_000).fill(commit)) },
    ),
    entryCount: fc.nat(),
  }),
);

export const keptPushes: fc.Arbitrary<RandomKept> = fc.record({
  target: repositoryName,
  pushHash: name,
  work: works,
  recordedTip: fc.option(oid),
  wasOpen: fc.boolean(),
  others: fc.array(name, { maxLength: 3 }),
  owed: fc.option(owed),
});

export function keptPush({ work, ...rest }: RandomKept): KeptPush {
  const commits = new PlannedCommits();
  for (const commit of work.commits) commits.push(commit);
  return { ...rest, work: { ...work, commits } };
}

/** With its bytes as text: thousands of them are compared one by one otherwise. */
export function comparable(value: object): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, part: unknown) =>
      part instanceof Uint8Array ? Buffer.from(part).toString('base64') : part,
    ),
  );
}

/** Returns a planned commit with all of its parts decoded, for comparison. */
export function decoded(commit: PlannedCommit): unknown {
  const { tree, parents, message } = commit;
  return comparable({ tree, parents, encoding: commit.encoding, message });
}
