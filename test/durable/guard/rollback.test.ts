import { describe, expect, it } from 'vitest';
import { rollBack, type RollbackWorld } from '../../../src/durable/guard/rollback.ts';
import type { TrackedPullRequest } from '../../../src/durable/guard/tracked-pull-requests.ts';
import { HostError } from '../../../src/host-error.ts';

const tracked: TrackedPullRequest[] = Array.from({ length: 20 }, (_, index) => ({
  prHash: `${index}`.padStart(12, '0'),
  host: 'gh',
  owner: 'octo',
  repo: 'hello',
  number: index,
  url: `https://host.test/octo/hello/pull/${index}`,
}));
const numbers = (pullRequests: readonly TrackedPullRequest[]) => pullRequests.map(({ number }) => number);

function worldOf(
  close: (number: number) => HostError | null,
): RollbackWorld & { told: number[]; asked: number[] } {
  const told: number[] = [];
  const asked: number[] = [];
  return {
    told,
    asked,
    async close({ number }) {
      asked.push(number);
      await Promise.resolve();
      const error = close(number);
      if (error !== null) throw error;
      return { kind: 'closed', at: '2026-01-01T00:00:00Z' };
    },
    async tell({ number }) {
      if (number === 13) throw new Error('out of reach');
      told.push(number);
    },
  };
}

describe('a rollback', () => {
  it('closes each once, and tells', async () => {
    const world = worldOf(() => null);
    const report = await rollBack(world, tracked);
    expect(numbers(report.closed).toSorted((a, b) => a - b)).toEqual(numbers(tracked));
    expect(report.failed).toEqual([]);
    expect(numbers(report.untold)).toEqual([13]);
    expect(world.told).toHaveLength(19);
  });

  it('has at most four under way at once', async () => {
    let [now, most] = [0, 0];
    const world = worldOf(() => null);
    await rollBack(
      {
        ...world,
        async close(pullRequest) {
          most = Math.max(most, ++now);
          const closed = await world.close(pullRequest);
          now -= 1;
          return closed;
        },
      },
      tracked,
    );
    expect(most).toBe(4);
  });

  it('goes on after one that fails', async () => {
    const report = await rollBack(
      worldOf((number) => (number % 5 === 0 ? new HostError('missing', '') : null)),
      tracked,
    );
    expect(numbers(report.failed).toSorted((a, b) => a - b)).toEqual([0, 5, 10, 15]);
    expect(report.closed).toHaveLength(16);
  });

  it('leaves the host alone when it asks to slow down', async () => {
    const world = worldOf((number) => (number >= 6 ? new HostError('rate-limited', '') : null));
    const report = await rollBack(world, tracked);
    expect(report.closed).toHaveLength(6);
    expect(numbers(report.failed).toSorted((a, b) => a - b)).toEqual(numbers(tracked).slice(6));
    expect(world.asked.length).toBeLessThanOrEqual(10);
  });
});
