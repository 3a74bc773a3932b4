/**
 * Lists of people, as Git sends them: in a sorted list a new entry often begins like the one behind
 * it and ends like the one before it, and Git's delta copies what they share.
 */
import { afterAll, expect, it } from 'vitest';
import { mkdirSync } from 'node:fs';
import { UNCOUNTED } from '../../../src/git/memory.ts';
import type { Oid } from '../../../src/git/objects/oid.ts';
import type { KeptObject } from '../../../src/git/pack/kept-objects.ts';
import { searchPack, type SearchQuestions } from '../../../src/git/search/pack-search.ts';
import { SearchedNames } from '../../../src/git/search/searched-names.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { filesOnly } from '../../support/stored-pack.ts';
import { Workshop } from '../../sandbox/support/git.ts';
import { mustRun, neutralEnvironment, type RunOptions } from '../support/run.ts';

const FIRST_NAMES =
  'Ada Adam Alan Alice Anna Anne Bob Carl Carla Dora Emil Emma Eva Fred Hanna Hans Ian Jan Jane Janet Jo'
    .concat(
      ' John Jonas Karl Lea Leo Lisa Maria Mark Martin Mary Max Mia Nina Otto Paul Paula Rob Rosa Sam Tim Tom',
    )
    .split(' ');
const SURNAMES =
  'Adams Allen Baker Becker Bell Berg Bergmann Bauer Braun Carter Clark Cole Cook Cooper Davis Ellis Fischer'
    .concat(
      ' Hall Hansen Harris Hill Hoffmann Jackson Jensen Johnson Jones Keller Kelly King Koch Larsen Lehmann Lewis Martin',
    )
    .concat(
      ' Meyer Miller Moore Morris Müller Nelson Nielsen Novák Nowak Olsen Parker Petersen Richter Roberts Robinson',
    )
    .split(' ');
const PROVIDERS = ['home.example', 'mail.example', 'post.example.org', 'a.example'];

interface Someone {
  readonly name: string;
  readonly email: string;
}

/** How a project may keep its list of people. */
const FORMS: readonly ((someone: Someone) => string)[] = [
  ({ name, email }) => `${name} <${email}>`,
  ({ name }) => `- ${name}`,
  ({ name }) => `    "${name}",`,
  ({ name }) => name.split(' ').toReversed().join(', '),
  ({ email }) => email,
  ({ email }) => `  - ${email}`,
];

let state = 1;
function pick<T>(from: readonly T[]): T {
  state = (state * 48_271) % 0x7fffffff;
  return from[state % from.length] as T;
}

function someone(): Someone {
  const [first, last] = [pick(FIRST_NAMES), pick(SURNAMES)];
  const local = pick([first, `${first}.${last}`, `${first[0]}${last}`])
    .normalize('NFD')
    .replaceAll(/\P{ASCII}/gu, '');
  return { name: `${first} ${last}`, email: `${local.toLowerCase()}@${pick(PROVIDERS)}` };
}

/** A commit in the format of git fast-import; the branch goes on if it is there. */
function commitOf(index: number, lines: readonly string[]): string {
  const text = `${lines.join('\n')}\n`;
  const data = `data ${Buffer.byteLength(text)}\n${text}\n`;
  return `commit refs/heads/case${index}\ncommitter A <a@b.example> 1 +0000\ndata 0\nM 100644 inline LIST\n${data}`;
}

/** All that a repository has. */
async function objectsOf(options: RunOptions): Promise<ReadonlyMap<Oid, KeptObject>> {
  const args = ['cat-file', '--batch', '--batch-all-objects'];
  const output = await mustRun('git', args, options);
  const objects = new Map<Oid, KeptObject>();
  for (let at = 0; at < output.length;) {
    // "<id> <type> <size>", a line feed, the object, a line feed.
    const content = output.indexOf(0x0a, at) + 1;
    const [id, type, size] = output.toString('latin1', at, content - 1).split(' ');
    at = content + Number(size) + 1;
    const oid = id as Oid;
    objects.set(oid, { type: type as KeptObject['type'], oid, content: output.subarray(content, at - 1) });
  }
  return objects;
}

const workshop = new Workshop();
afterAll(() => workshop.remove());

/**
 * Fails for each entry that is found neither by its delta nor with the bases.
 * @param count how many lists.
 */
async function searchLists(count: number): Promise<void> {
  const repository = workshop.path();
  mkdirSync(repository);
  const options = { cwd: repository, env: neutralEnvironment({}) };
  await mustRun('git', ['init', '--quiet'], options);
  const cases = Array.from({ length: count }, () => {
    const form = pick(FORMS);
    const entries = Array.from({ length: 80 }, () => form(someone()));
    const author = someone();
    const list = entries.filter((entry) => entry !== form(author)).toSorted();
    return { author, list, longer: [...list, form(author)].toSorted() };
  });
  const history = cases.flatMap(({ list, longer }, index) =>
    [list, longer].map((lines) => commitOf(index, lines)),
  );
  await mustRun('git', ['fast-import', '--quiet'], { ...options, input: history.join('') });
  const bases = await objectsOf(options);
  const passedInSilence: string[] = [];
  const missed: string[] = [];
  for (const [index, { author }] of cases.entries()) {
    const pack = await mustRun('git', ['pack-objects', '--thin', '--revs', '--stdout', '--quiet'], {
      ...options,
      input: `case${index}\n^case${index}~\n`,
    });
    const header = `author ${author.name} <${author.email}> 1 +0000\n\n`;
    const headers = [{ content: Buffer.from(header), encoding: null }];
    const names = new SearchedNames({ headers, originalIds: [], nobodys: [] });
    const readBases: SearchQuestions['readBases'] = async (sizes) =>
      [...sizes.keys()].map((oid) => bases.get(oid) as KeptObject);
    const search = (answers: SearchQuestions['readBases']) => {
      const questions = { readBases: answers, readUpstream: async () => new Map() };
      return searchPack(filesOnly(pack), names, questions, () => null, UNCOUNTED, 10);
    };
    const entry = `${author.name} ${author.email}`;
    const alone = await search(async () => []);
    if (alone.hits.length === 0 && alone.isComplete) passedInSilence.push(entry);
    if ((await search(readBases)).hits.length === 0) missed.push(entry);
  }
  expect({ passedInSilence, missed }).toEqual({ passedInSilence: [], missed: [] });
}

it('show a new entry, even if Git leaves out what it shares with its neighbours', () => searchLists(25));

it('show each of three hundred new entries', exhaustive, () => searchLists(300));
