/** A host that is silent: no question that only warns the better makes a push wait for long. */
import { expect, it } from 'vitest';
import type { AnonymousCommits } from '../../../src/git/objects/anonymize.ts';
import { PlannedCommits } from '../../../src/git/objects/planned-commits.ts';
import { GitQuestions, PlaceQuestions } from '../../../src/push/judge/questions.ts';
import type { PushRun } from '../../../src/push/push-run.ts';
import type { NamedPullRequest } from '../../../src/push/verdict.ts';

const REPOSITORY = { owner: 'octo', name: 'hello' };
const OID = '0123456789'.repeat(4);
const silent = () => new Promise<never>(() => {});

function asked() {
  const waits: number[] = [];
  const sleep = async (ms: number): Promise<void> => void waits.push(ms);
  const run = {
    host: {
      clock: { now: () => 0, sleep },
      transport: { readObjects: silent, hostName: 'host.test', advertisedIds: silent },
      lister: { isApart: silent, newestIn: silent },
    },
    logger: { warn: () => {} },
  } as unknown as PushRun;
  const upstream = { repository: REPOSITORY, refs: [] };
  return { waits, git: new GitQuestions(run, upstream), place: new PlaceQuestions(run, REPOSITORY, 'bot') };
}

const NAMED = { pullRequest: { source: { repository: REPOSITORY } }, tip: OID } as NamedPullRequest;
const LEAVING = { has: () => false } as unknown as AnonymousCommits;
const PUSH = { commits: new PlannedCommits(), boundary: [], base: { name: '', oid: OID }, entryCount: 0 };
const SPOOL = { byteLength: 0, isInMemory: true, async *read() {} };
const HOW = { isAll: true, isRequired: false };

it.each<[string, (place: PlaceQuestions, git: GitQuestions) => Promise<unknown>]>([
  ['whose commits they are', (place) => place.advertised(new Set([OID]))],
  ['what deltas stand on', (place) => place.readBases(new Map([[OID, 4]]))],
  ['whether a base is apart', (_, git) => git.isApart(OID, [OID])],
  ['whether files change', (place) => place.treeOf(OID)],
  ['files to search', (place) => place.readFiles(OID, ['a.txt'], 100)],
  ['what a push changes', (place) => place.entriesChanged(PUSH, SPOOL, HOW)],
  [
    'what an update drops',
    (place) => place.updatedCommits(NAMED, new PlannedCommits(), LEAVING, () => false),
  ],
])('%s', async (_, ask) => {
  const { waits, git, place } = asked();
  await ask(place, git);
  expect(waits).toEqual([5_000]);
});
