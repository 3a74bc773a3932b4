/**
 * Counts the calls of objects and the rows that a push which opens a pull request costs. A change
 * that needs more raises a number here, and says why.
 */
import { expect, it } from 'vitest';
import { COUNTS } from '../../../bench/bill.ts';
import { buildWorker } from '../../../local/deploy/build.ts';
import { contribute, type Contribution, expectAccepted } from '../support/contribution.ts';
import type { Counts, ObjectCall } from '../support/counting-worker.ts';
import { useOwnTestBed } from '../support/test-bed.ts';

const bed = useOwnTestBed({
  // So low that each pull request is written down; of the usual limit, it is every third one.
  env: { LIMIT_TARGET: '9/1h' },
  rebuild: () => buildWorker('test/e2e/support/counting-worker.ts'),
});

async function counts(): Promise<Counts> {
  const response = await fetch(`${bed.service.url}/counts`);
  return response.json<Counts>();
}

const OF_THE_DISCOVERY = 'CLIENT_WINDOWS.hit';

/**
 * Calls that do not make the push longer: after the answer, and beside what the host is asked for.
 */
const BESIDE = /\.(?:end|release|said)$/;

/** Calls that an isolate makes once in ten seconds: seldom, that is in this push. */
const NOW_AND_THEN = /^HOST_ACCOUNTS\.(?:hostPause|callsSaid)$/;

/** The longest row of calls of which each begins after the one before has ended. */
function depthOf(calls: readonly ObjectCall[]): number {
  const depths = new Map<ObjectCall, number>();
  for (const call of calls.toSorted((a, b) => a.begunAt - b.begunAt)) {
    const before = [...depths].filter(([{ endedAt }]) => endedAt < call.begunAt).map(([, depth]) => depth);
    depths.set(call, 1 + Math.max(0, ...before));
  }
  return Math.max(0, ...depths.values());
}

async function delivered(): Promise<number> {
  const response = await fetch(`${bed.service.url}/delivered`);
  return response.json<number>();
}

/**
 * Pushes a commit of its own, and says what that cost, until its messages were delivered and it has
 * ended.
 */
async function costOfPush(contribution: Contribution): Promise<Counts> {
  const { clone } = contribution;
  // On top of the last one, it would be asked about that, too.
  await clone.git('reset', '--quiet', '--hard', 'origin/main');
  await clone.commit();
  const before = await delivered();
  await counts();
  await expectAccepted(
    bed,
    contribution,
    await clone.push('origin', `HEAD:refs/heads/${crypto.randomUUID()}`),
  );
  await expect.poll(delivered).toBe(before + 1);
  const cost = { calls: new Array<ObjectCall>(), objectRows: 0, databaseRows: 0 };
  const untilNow = async () => {
    const { calls, objectRows, databaseRows } = await counts();
    cost.calls.push(...calls);
    cost.objectRows += objectRows;
    cost.databaseRows += databaseRows;
    return cost.calls.map(({ name }) => name);
  };
  await expect.poll(untilNow).toContain('PENDING_PUSHES.end');
  return cost;
}

it('a push that opens a pull request makes few calls and writes few rows', async () => {
  const contribution = await contribute(bed);
  await costOfPush(contribution);
  const { calls, objectRows, databaseRows } = await costOfPush(contribution);
  const discovery = calls.findIndex(({ name }) => name === OF_THE_DISCOVERY);
  const pushed = calls.toSpliced(discovery, 1).filter(({ name }) => !NOW_AND_THEN.test(name));
  const names = pushed.map(({ name }) => name);
  expect(names.toSorted()).toEqual([
    // Beside the account: what waits must not be public because a retry lacks its delay.
    'DELAYED_PUSHES.findWaiting',
    'GUARD.admit',
    // Beside the account, so that nothing waits for it.
    'GUARD.mayTrack',
    'GUARD.track',
    // Before the pack: where there is no room, a push that is made again is answered as any other.
    'HOST_ACCOUNTS.denial',
    'HOST_ACCOUNTS.reserve',
    // Beside the policy: whether maintainers have said stop.
    'NOTIFICATION_FEED.said',
    'PENDING_PUSHES.begin',
    'PENDING_PUSHES.end',
    'PULL_REQUESTS.record',
  ]);
  expect(names.length + 1).toBe(COUNTS.objectCalls);
  expect(depthOf(pushed.filter(({ name }) => !BESIDE.test(name)))).toBeLessThanOrEqual(4);
  // The pull request's object has five: all that it keeps, when it is recorded and when its
  // messages were delivered, the dates of the commits, and an alarm for both. The guard has two:
  // one before, to see whether it could track it. The account has one. That of the metrics, once in
  // ten seconds, is not counted.
  expect(objectRows).toBeLessThanOrEqual(COUNTS.objectRows);
  // Of the ledger a table with an index; one of the hashes, and one of a repository's page.
  expect(databaseRows).toBeLessThanOrEqual(COUNTS.databaseRows);
});
