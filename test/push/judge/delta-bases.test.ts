/**
 * Files that are only read to be searched: a push neither fails nor waits for long because of them.
 */
import { expect, it } from 'vitest';
import type { Oid } from '../../../src/git/objects/oid.ts';
import { PlannedCommits } from '../../../src/git/objects/planned-commits.ts';
import { PlaceQuestions } from '../../../src/push/judge/questions.ts';
import type { PushRun } from '../../../src/push/push-run.ts';

const REPOSITORY = { owner: 'octo', name: 'hello' };
const OID = '0123456789'.repeat(4);
const FILE = { type: 'blob', oid: OID, content: Buffer.from('text') } as const;

async function read(answer: () => Promise<unknown>, isPatient = true) {
  const asked: unknown[] = [];
  const warnings: string[] = [];
  const run = {
    host: {
      clock: { now: () => 0, sleep: isPatient ? () => new Promise(() => {}) : async () => {} },
      transport: {
        readObjects: (_: unknown, { wants }: { wants: Oid[] }, maxBytes: number) => {
          asked.push([wants, maxBytes]);
          return answer();
        },
      },
    },
    logger: { warn: (message: string) => warnings.push(message) },
  } as unknown as PushRun;
  const sizes = new Map([
    [OID, 4],
    ['f'.repeat(40), 30],
  ]);
  const questions = new PlaceQuestions(run, REPOSITORY, 'bot');
  return { objects: [...(await questions.readBases(sizes))], asked, warnings };
}

it('are asked for at once, by their ids, and no larger than they say', async () => {
  const { objects, asked } = await read(async () => new Map([[OID, FILE]]));
  expect(asked).toEqual([[[OID, 'f'.repeat(40)], 34]]);
  expect(objects).toEqual([FILE]);
});

it('are done without if the host has them not, if they are larger, or if it is silent', async () => {
  const failed = await read(() => Promise.reject(new Error('not our ref')));
  expect(failed).toMatchObject({ objects: [], warnings: ['the bases of deltas could not be read'] });
  expect((await read(async () => null)).objects).toEqual([]);
  expect((await read(() => new Promise(() => {}), false)).objects).toEqual([]);
});

it('are not looked for among so many entries that their list would take much memory', async () => {
  const questions = new PlaceQuestions({ host: { transport: {} } } as unknown as PushRun, REPOSITORY, 'bot');
  const push = { commits: new PlannedCommits(), boundary: [OID], entryCount: 30_001 };
  expect(
    await questions.largeFiles(push, [], {
      isInMemory: true,
      byteLength: 1,
      read: () => expect.unreachable(),
    }),
  ).toBeNull();
});
