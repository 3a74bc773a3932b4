import { env } from 'cloudflare:workers';
import { beforeEach, expect, it } from 'vitest';
import { closeOpened } from '../../../src/durable/notification-feed/close-opened.ts';
import type { Env } from '../../../src/env.ts';
import { CallsUsedUp } from '../../../src/events/follow.ts';
import type { PullRequestState, Repository } from '../../../src/host/code-host.ts';
import { type Reached, reachHost } from '../../../src/host-access.ts';
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

/** Closes five pull requests. Answers what that throws, and which were closed. */
async function closeFive(pullRequest: (number: number) => PullRequestState | null) {
  const threads = [1, 2, 3, 4, 5].map((number) => {
    return { number, url: `${API}/${number}`, isPullRequest: true, app: null };
  });
  const closing = closeOpened(
    {
      env: bindings,
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
  return { error, closed: closed.toSorted((a, b) => a - b) };
}

it('closes all but what is gone, and what no push has recorded', async () => {
  const ended = await closeFive((number) => {
    if (number === 1) return null;
    return number === 2 ? { ...pull(number), branch: 'main' } : pull(number);
  });
  expect(ended).toEqual({ error: undefined, closed: [3, 4, 5] });
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
