/** A warning that must not keep a push waiting. */
import { expect, it } from 'vitest';
import { PlannedCommits } from '../../../../src/git/objects/planned-commits.ts';
import { UNCOUNTED } from '../../../../src/git/memory.ts';
import { PlaceQuestions } from '../../../../src/push/judge/questions.ts';
import { submodules, workflows } from '../../../../src/push/judge/rules/changes.ts';
import { HostSteps } from '../../../../src/push/reply/refusal.ts';
import { NotedReply } from '../../../../src/push/reply/reply.ts';
import { failureOf } from '../../../../src/push/delay/release.ts';
import { linesOf } from '../../../../src/words/finding.ts';
import type { PushRun } from '../../../../src/push/push-run.ts';
import { NO_FILES } from '../../../../src/policy/community-files.ts';
import { OPEN_POLICY, withCommunity } from '../../../../src/policy/policy.ts';

const REPOSITORY = { owner: 'octo', name: 'hello' };
const silence = () => new Promise<never>(() => {});

/** A host that answers nothing, and a clock by which every wait is over. */
const host = {
  clock: { now: () => 0, sleep: async () => {} },
  transport: { hostName: 'silent.test', readObjects: silence },
  lister: { newestIn: async (_: unknown, __: unknown, oids: unknown) => oids },
  memory: UNCOUNTED,
} as unknown as PushRun['host'];

const run = {
  host,
  logger: {} as PushRun['logger'],
  steps: new HostSteps(host.clock, new NotedReply(), 'silent.test'),
} as PushRun;
const questions = new PlaceQuestions(run, REPOSITORY, 'bot');

const base = { name: 'refs/heads/main', oid: 'cd'.repeat(20) };
const commits = new PlannedCommits();
commits.push({
  tree: 'ab'.repeat(20),
  parents: [base.oid],
  encoding: null,
  message: { bytes: new Uint8Array(0), mentions: [] },
});

it.each([true, false])(
  'is given up when the host does not answer in time (in memory: %s)',
  async (isInMemory) => {
    const spool = { isInMemory, byteLength: 0, read: async function* () {} };
    const push = { commits, boundary: [base.oid], base, entryCount: 0 };
    const changed = await questions.entriesChanged(push, spool, { isAll: true, isRequired: false });
    expect(changed).toBeNull();
    expect(linesOf(submodules(changed)).join()).toContain('could not check');
    const policy = withCommunity(OPEN_POLICY, { ...NO_FILES, hasWorkflows: true });
    expect(linesOf(workflows(changed, REPOSITORY, policy))).toEqual([
      'The service could not check whether you change workflows.',
    ]);
    const strict = { ...policy, refusesWorkflows: true };
    expect(workflows(changed, REPOSITORY, strict)).toMatchObject([
      { severity: 'refuse', reason: 'the repository takes no changes of workflows' },
    ]);
  },
);

it.each([true, false])(
  'is tried again when a rule requires it and the host is silent (in memory: %s): nobody has found a workflow',
  async (isInMemory) => {
    const spool = { isInMemory, byteLength: 0, read: async function* () {} };
    const push = { commits, boundary: [base.oid], base, entryCount: 0 };
    const how = { isAll: false, isRequired: true };
    const error: unknown = await questions.entriesChanged(push, spool, how).catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'lookup' });
    expect(failureOf(error, 9)).toMatchObject({ failure: { kind: 'later' } });
  },
);

it('is not tried for a pack of too many entries, or one outside memory that need not be read', async () => {
  const asked = { commits, boundary: [base.oid], base };
  const spool = { isInMemory: false, byteLength: 9, read: silence as never };
  const how = { isAll: false, isRequired: true };
  expect(await questions.entriesChanged({ ...asked, entryCount: 30_001 }, spool, how)).toBeNull();
  const small = { ...asked, entryCount: 1 };
  expect(await questions.entriesChanged(small, spool, { isAll: false, isRequired: false })).toBeNull();
});
