import { env } from 'cloudflare:workers';
import { beforeEach, expect, it, vi } from 'vitest';
import { closeOpened } from '../../../src/durable/notification-feed/close-opened.ts';
import type { Env } from '../../../src/env.ts';
import { CallsUsedUp } from '../../../src/events/follow.ts';
import type { PullRequestState, Repository } from '../../../src/host/code-host.ts';
import { type Reached, reachHost } from '../../../src/host-access.ts';
import { forgetEverything } from '../../../src/isolate/recent.ts';
import { HostError } from '../../../src/words/host-error.ts';
import { API, BOT, FakeActivity } from '../support/fake-activity.ts';

const REPOSITORY: Repository = {
  id: 7,
  owner: 'octo',
  name: 'hello',
  networkId: 7,
  isPrivate: false,
  isArchived: false,
  pullRequests: 'all',
  sizeKb: 1,
};
const bindings: Env = { ...(env as unknown as Env), HOSTING_API_URL: API, HOSTING_TOKEN: 'secret' };

let fake: FakeActivity;

beforeEach(() => {
  forgetEverything();
  fake = new FakeActivity();
  fake.disturb = (path) => {
    const number = Number(path.split('/').at(-1));
    return Response.json({ number, state: 'closed', merged: false, closed_at: null });
  };
});

const pull = (number: number): PullRequestState => ({
  number,
  url: `${API}/${number}`,
  authorId: 1,
  branch: `anon-0123456789a${number}`,
  mergedAt: null,
  closedAt: null,
});

const FIVE = [1, 2, 3, 4, 5];

/**
 * Closes five pull requests, or others. Answers what that throws, which were closed, and which are
 * to be examined.
 */
async function closeFive(
  pullRequest: (number: number) => PullRequestState | null,
  numbers = FIVE,
  more: Partial<Env> = {},
) {
  fake.requests.length = 0;
  const later: number[] = [];
  const threads = numbers.map((number) => {
    return { number, url: `${API}/${number}`, isPullRequest: true, app: null };
  });
  const closing = closeOpened(
    {
      env: { ...bindings, ...more },
      lookLater: (_, number) => void later.push(number),
      reached: reachHost(bindings, 'gh') as Reached,
      host: {
        pullRequest: async (_, number) => pullRequest(number),
        openedBy: async () => threads,
      },
      own: [{ id: 1, login: BOT }],
    },
    REPOSITORY,
  );
  const error: unknown = await closing.catch((reason: unknown) => reason);
  const closed = fake.requests.flatMap(({ method, path }) => (method === 'PATCH' ? Number(path.at(-1)) : []));
  return { error, closed: closed.toSorted((a, b) => a - b), later };
}

it('closes all but what no push has recorded', async () => {
  const ended = await closeFive((number) =>
    number === 2 ? { ...pull(number), branch: 'main' } : pull(number),
  );
  expect(ended).toEqual({ error: undefined, closed: [1, 3, 4, 5], later: [] });
});

it('has not closed what the host lists as open and does not show', async () => {
  const { error, closed } = await closeFive((number) => (number === 1 ? null : pull(number)));
  expect(closed).toEqual([2, 3, 4, 5]);
  expect(error).toMatchObject({ message: '1 of 5 could not be closed' });
});

it('closes the others if one cannot be read', async () => {
  const { error, closed } = await closeFive((number) => {
    if (number === 1) throw new HostError('unreachable', 'No.', undefined, { status: 500 });
    return pull(number);
  });
  expect(closed).toEqual([2, 3, 4, 5]);
  expect(error).toMatchObject({ message: '1 of 5 could not be closed' });
});

it('closes as many as this hour’s calls allow, and says that these were used up', async () => {
  const { error, closed } = await closeFive((number) => {
    if (number > 3) throw new CallsUsedUp();
    return pull(number);
  });
  expect(closed).toEqual([1, 2, 3]);
  expect(error).toBeInstanceOf(CallsUsedUp);
});

function refuseFirstFour(number: number): PullRequestState {
  if (number < 5) throw new HostError('refused', 'No.', undefined, { status: 403 });
  return pull(number);
}

it('begins with what has not failed before, so that four failures keep nothing open for ever', async () => {
  expect(await closeFive(refuseFirstFour)).toMatchObject({ closed: [] });
  expect(await closeFive(refuseFirstFour)).toMatchObject({ closed: [5] });
});

it('tries what has failed in turn', async () => {
  const tried: number[] = [];
  const refuse = (number: number): PullRequestState => {
    tried.push(number);
    throw new HostError('refused', 'No.', undefined, { status: 403 });
  };
  const all = [1, 2, 3, 4, 5, 6, 7, 8];
  vi.useFakeTimers({ toFake: ['Date'] });
  for (let run = 0; run < 3; run++) {
    await closeFive(refuse, all);
    vi.setSystemTime(Date.now() + 3_600_000);
  }
  vi.useRealTimers();
  expect(tried).toEqual([...all, 1, 2, 3, 4]);
});

const tell = async () => Promise.reject(new Error('Durable Object reset because its code was updated.'));

it('has those examined whose subscribers could not be told, because an object was reset', async () => {
  fake.disturb = (path) => {
    const number = Number(path.split('/').at(-1));
    return Response.json({ number, state: 'closed', merged: false, closed_at: '2026-11-22T11:00:00Z' });
  };
  const objects = { idFromName: () => null, get: () => ({ tell }) };
  const more = { PULL_REQUESTS: objects as unknown as Env['PULL_REQUESTS'] };
  expect(await closeFive(pull, FIVE, more)).toMatchObject({
    error: undefined,
    later: expect.arrayContaining(FIVE),
  });
});
