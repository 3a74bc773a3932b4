/** One push until its answer has gone out. */
import { applyD1Migrations, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { LEASE_MS } from '../../../src/durable/lease.ts';
import {
  ANSWERED_MS,
  type BeginAnswer,
  type Left,
  type PushIntent,
} from '../../../src/durable/pending-push/pending-push.ts';
import type { Env } from '../../../src/env.ts';
import { guardOf } from '../../../src/objects.ts';
import { HttpClient } from '../../../src/outgoing/http-client.ts';
import { restartObjects } from '../../support/all-objects.ts';

const bindings = env as unknown as Env & { TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1] };
const TARGET = { owner: 'octo', name: 'hello' };
const HOUR_MS = 60 * 60 * 1000;
/** Ahead of the clock: by itself no alarm goes off within a test. */
const NOW = Date.now() + 24 * HOUR_MS;

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

let count = 0;
function newPush() {
  return pushIn(`push ${++count}`, `${count}`);
}

/** As long as a keyed hash. @param digits of a hexadecimal number. */
const hashOf = (digits: string): string => digits.padStart(64, '0');

function pushIn(name: string, digits: string) {
  const hash = hashOf(digits);
  const id = bindings.PENDING_PUSHES.idFromName(name);
  // A stub does not outlive the object's death.
  const object = () => bindings.PENDING_PUSHES.get(id);
  return {
    object,
    begin: (intent: PushIntent | null, at = NOW) => object().begin(hash, 'gh', TARGET, intent, at),
    decide: (lease: number, decided: PushIntent, at = NOW) => object().decide(hash, lease, decided, at),
    end: (lease: number, left: Left, at = NOW) => object().end(hash, lease, left, at),
  };
}

const intent = (prHash: string): PushIntent => ({ prHash, committedAt: count });

describe('a pending push', () => {
  it('goes on with what it was working on when it is repeated after its machine died', async () => {
    const { begin } = newPush();
    const first = await begin(intent('a'));
    expect(first).toMatchObject({ kind: 'begun', intent: intent('a'), isRepeated: false });
    await restartObjects();
    expect(await begin(intent('b'))).toMatchObject({ intent: intent('a'), isRepeated: true });
    await restartObjects();
    expect(await begin(intent('c'))).toMatchObject({ intent: intent('a'), isRepeated: true });
  });

  it('does not begin twice at once, until the first one has had its time', async () => {
    const { begin } = newPush();
    await begin(intent('a'));
    expect(await begin(intent('b'), NOW + LEASE_MS - 1)).toEqual({ kind: 'busy' });
    expect(await begin(intent('b'), NOW + LEASE_MS)).toMatchObject({ intent: intent('a'), isRepeated: true });
  });

  it('that was not answered may be repeated at once; one that was is forgotten', async () => {
    const { begin, end } = newPush();
    for (const [left, next] of [
      ['unanswered', 'a'],
      ['nothing', 'c'],
    ] as const) {
      const begun = await begin(intent('a'));
      if (begun.kind !== 'begun') throw new Error('it is busy');
      await end(begun.lease, left);
      const again = await begin(intent('c'));
      expect(again).toMatchObject({ intent: intent(next), isRepeated: next === 'a' });
      if (again.kind === 'begun') await end(again.lease, 'unanswered');
    }
  });

  it('ends nobody’s work but its own', async () => {
    const { begin, end } = newPush();
    const first = await begin(intent('a'));
    await begin(intent('b'), NOW + LEASE_MS);
    if (first.kind === 'begun') await end(first.lease, 'unanswered');
    expect(await begin(intent('c'), NOW + LEASE_MS + 1)).toEqual({ kind: 'busy' });
  });

  it('is not forgotten by an answer that comes after another has taken it over', async () => {
    const { begin, end } = newPush();
    const first = await begin(intent('a'));
    const second = await begin(intent('b'), NOW + LEASE_MS);
    if (first.kind !== 'begun' || second.kind !== 'begun') throw new Error('it is busy');
    await end(first.lease, 'nothing');
    await end(second.lease, 'unanswered');
    expect(await begin(intent('c'))).toMatchObject({ intent: intent('a'), isRepeated: true });
  });

  it('that is repeated late goes on, too, as long as nobody knows what it has opened', async () => {
    vi.spyOn(scheduler, 'wait').mockResolvedValue();
    answer({});
    const push = newPush();
    await push.begin(intent('a'));
    await restartObjects();
    expect(await clearUp(push, NOW + 2 * HOUR_MS)).toBe(true);
    const late = await push.begin(intent('b'), NOW + 2 * HOUR_MS + LEASE_MS);
    expect(late).toMatchObject({ intent: intent('a'), isRepeated: true });
  });
});

const leaseOf = ({ kind, ...begun }: BeginAnswer): number => {
  if (kind !== 'begun' || !('lease' in begun)) throw new Error(`it is ${kind}`);
  return begun.lease;
};
const rows = ({ object }: ReturnType<typeof newPush>) =>
  runInDurableObject(object(), (_, { storage }) => JSON.stringify([...storage.kv.list()]));

describe('a push that has opened its pull request, and was answered', () => {
  it('is found for ten minutes, as its answer may have been lost, and leaves nothing then', async () => {
    const asked = answer({});
    const push = newPush();
    await push.end(leaseOf(await push.begin(intent('a'))), 'answered');
    const again = await push.begin(intent('b'), NOW + ANSWERED_MS - 1);
    expect(again).toMatchObject({ intent: intent('a'), isRepeated: true, isAnswered: true });
    await push.end(leaseOf(again), 'answered', NOW + 1);
    expect(await clearUp(push, NOW + ANSWERED_MS + 1)).toBe(false);
    // It is recorded: the host need not be asked.
    expect(asked).toEqual([]);
    expect(await push.begin(intent('c'), NOW + ANSWERED_MS + 1)).toMatchObject({ isRepeated: false });
  });

  it('is not found after ten minutes, however late the alarm comes', async () => {
    const push = newPush();
    await push.end(leaseOf(await push.begin(intent('a'))), 'answered');
    const late = await push.begin(intent('b'), NOW + ANSWERED_MS);
    expect(late).toMatchObject({ intent: intent('b'), isRepeated: false, isAnswered: false });
  });

  it('that is closed since decides anew, and is not found then until it is open again', async () => {
    const push = newPush();
    await push.end(leaseOf(await push.begin(intent('a'))), 'answered');
    const lease = leaseOf(await push.begin(intent('b')));
    await push.decide(lease, intent('b'));
    await push.decide(lease + 1, intent('c'));
    await push.end(lease, 'unanswered');
    expect(await push.begin(intent('d'), NOW + ANSWERED_MS)).toMatchObject({
      intent: intent('b'),
      isRepeated: true,
      isAnswered: false,
    });
  });
});

describe('a push that is published later', () => {
  it('is locked like any other, and leaves nothing', async () => {
    const push = newPush();
    const begun = await push.begin(null);
    expect(begun).toMatchObject({ kind: 'begun', intent: null, isRepeated: false });
    expect(await push.begin(intent('b'))).toEqual({ kind: 'busy' });
    expect(await rows(push)).toBe('[]');
    await push.end(leaseOf(begun), 'nothing');
    expect(await push.begin(intent('b'))).toMatchObject({ intent: intent('b'), isRepeated: false });
  });

  it('learns that an earlier attempt has begun to publish it', async () => {
    const push = newPush();
    await push.end(leaseOf(await push.begin(intent('a'))), 'unanswered');
    expect(await push.begin(null)).toMatchObject({ intent: intent('a'), isRepeated: true });
  });
});

describe('pushes of one machine, which share an object,', () => {
  it('know nothing of each other', async () => {
    const [a, b] = [pushIn('pushes', 'a'), pushIn('pushes', 'b')];
    const first = await a.begin(intent('a'));
    const second = await b.begin(intent('b'), NOW + 1);
    if (first.kind !== 'begun' || second.kind !== 'begun') throw new Error('it is busy');
    await a.end(second.lease, 'nothing');
    expect(await a.begin(intent('c'))).toEqual({ kind: 'busy' });
    await a.end(first.lease, 'nothing');
    expect(await b.begin(intent('c'))).toEqual({ kind: 'busy' });
    expect(await a.begin(intent('c'))).toMatchObject({ isRepeated: false });
    await b.end(second.lease, 'unanswered');
    expect(await b.begin(intent('c'))).toMatchObject({ intent: intent('b'), isRepeated: true });
  });

  it('are cleared up when each is due, and the last one leaves nothing', async () => {
    answer(REPOSITORY, 404);
    const [a, b] = [pushIn('dead', 'a'), pushIn('dead', 'b')];
    await a.begin(intent('a'));
    await b.begin(intent('b'), NOW + HOUR_MS / 2);
    const left = () =>
      runInDurableObject(a.object(), async (_, { storage }) => [
        [...storage.kv.list()].map(([key]) => key),
        await storage.getAlarm(),
      ]);
    expect(await left()).toEqual([[hashOf('a'), hashOf('b')], NOW + HOUR_MS]);
    await clearUp(a);
    expect(await left()).toEqual([[hashOf('b')], NOW + 1.5 * HOUR_MS]);
    await clearUp(a, NOW + 1.5 * HOUR_MS);
    expect(await left()).toEqual([[], null]);
  });

  it('leave the alarm of another one alone when they end', async () => {
    const [a, b] = [pushIn('alarm', 'a'), pushIn('alarm', 'b')];
    await a.begin(intent('a'));
    const second = await b.begin(intent('b'), NOW + HOUR_MS / 2);
    if (second.kind === 'begun') await b.end(second.lease, 'nothing');
    const alarm = await runInDurableObject(a.object(), (_, { storage }) => storage.getAlarm());
    expect(alarm).toBe(NOW + HOUR_MS);
  });
});

const REPOSITORY = {
  'GET /user': { id: 1, login: 'bot' },
  'GET /repos/octo/hello': {
    id: 1,
    name: 'hello',
    owner: { login: 'octo' },
    private: false,
    archived: false,
    size: 1,
  },
};

/** The host's answers, by method and path; the status of all others; and what it was asked. */
function answer(answers: Record<string, unknown>, status = 503): string[] {
  const asked: string[] = [];
  vi.spyOn(HttpClient.prototype, 'fetch').mockImplementation(async (input, init) => {
    const { method, url } = new Request(input, init);
    const call = `${method} ${new URL(url).pathname}`;
    asked.push(call);
    const body = answers[call];
    if (body === undefined) return Response.json({ message: 'No' }, { status });
    return body === null ? new Response(null, { status: 204 }) : Response.json(body);
  });
  return asked;
}

/** The hour is over. Answers whether anything is left to do. */
async function clearUp(
  { object }: Pick<ReturnType<typeof newPush>, 'object'>,
  now = NOW + HOUR_MS,
): Promise<boolean> {
  vi.setSystemTime(now);
  await runInDurableObject(object(), (instance) => {
    const variables = { HOSTING_TOKEN: 'secret', HOSTING_API_URL: 'https://api.test' };
    Object.assign(instance, { env: { ...bindings, ...variables } });
  });
  await runDurableObjectAlarm(object());
  const left = await runInDurableObject(object(), async (_, { storage }) => [
    ...(await storage.list()).keys(),
    await storage.getAlarm(),
  ]);
  return left.length > 1 || left[0] !== null;
}

describe('a push that died and is not repeated', () => {
  const PR_HASH = 'feedfeedfeed';
  const PULL = {
    number: 7,
    html_url: 'https://host.test/octo/hello/pull/7',
    state: 'open',
    user: { id: 1, login: 'bot' },
    base: { ref: 'main' },
    head: {
      label: `bot:anon-${PR_HASH}`,
      ref: `anon-${PR_HASH}`,
      user: { login: 'bot' },
      repo: { name: 'hello', owner: { login: 'bot' } },
    },
  };

  it('leaves its pull request in the ledger, once, and to a rollback, and nothing of itself', async () => {
    await applyD1Migrations(bindings.DB, bindings.TEST_MIGRATIONS);
    answer({ ...REPOSITORY, 'GET /repos/octo/hello/pulls': [PULL], 'POST /': {} });
    for (let time = 0; time < 2; time++) {
      const push = newPush();
      await push.begin({ prHash: PR_HASH, committedAt: Math.floor(NOW / 1000) });
      expect(await clearUp(push)).toBe(false);
    }
    const pullRequest = bindings.PULL_REQUESTS.get(bindings.PULL_REQUESTS.idFromName(PR_HASH));
    await runDurableObjectAlarm(pullRequest);
    const { results } = await bindings.DB.prepare('SELECT pr_url FROM pull_requests').all();
    expect(results).toEqual([{ pr_url: PULL.html_url }]);
    const tracked = await runInDurableObject(guardOf(bindings), (_, { storage }) =>
      storage.sql.exec('SELECT url FROM created').toArray(),
    );
    expect(tracked).toEqual([{ url: PULL.html_url }]);
    expect(await pullRequest.claim('gh', NOW)).toMatchObject({ recorded: { url: PULL.html_url } });
  });

  it('leaves no branch without a pull request, whatever its fork is called', async () => {
    const upstream = REPOSITORY['GET /repos/octo/hello'];
    const fork = { ...upstream, id: 2, name: 'hello-1', owner: { login: 'bot' }, parent: upstream };
    const deletion = `DELETE /repos/bot/hello-1/git/refs/heads%2Fanon-${PR_HASH}`;
    const asked = answer({
      ...REPOSITORY,
      'GET /repos/octo/hello/pulls': [],
      'POST /repos/octo/hello/forks': fork,
      [deletion]: null,
    });
    const push = newPush();
    await push.begin({ prHash: PR_HASH, committedAt: 1 });
    expect(await clearUp(push)).toBe(false);
    expect(asked).toContain(deletion);
  });

  it('is looked after again when the host is out of reach', async () => {
    vi.spyOn(scheduler, 'wait').mockResolvedValue();
    answer({});
    const push = newPush();
    await push.begin({ prHash: PR_HASH, committedAt: 1 });
    expect(await clearUp(push)).toBe(true);
    expect(await clearUp(push, NOW + 26 * HOUR_MS)).toBe(false);
  });

  it('is looked after again while the host does not show the repository, for a day', async () => {
    vi.spyOn(scheduler, 'wait').mockResolvedValue();
    answer({ 'GET /user': REPOSITORY['GET /user'] }, 404);
    const push = newPush();
    await push.begin({ prHash: PR_HASH, committedAt: 1 });
    expect(await clearUp(push)).toBe(true);
    expect(await clearUp(push, NOW + 26 * HOUR_MS)).toBe(false);
  });

  it.each([401, 403])(
    'is looked after again when the host refuses the bot account with %d',
    async (status) => {
      vi.spyOn(scheduler, 'wait').mockResolvedValue();
      vi.spyOn(HttpClient.prototype, 'fetch').mockImplementation(async () =>
        Response.json({ message: 'Sorry. Your account was suspended' }, { status }),
      );
      const push = newPush();
      await push.begin({ prHash: PR_HASH, committedAt: 1 });
      expect(await clearUp(push)).toBe(true);
    },
  );

  it('is left alone while someone repeats it in the last minute', async () => {
    const asked = answer({ ...REPOSITORY, 'GET /repos/octo/hello/pulls': [] });
    const push = newPush();
    await push.begin(intent('a'));
    await push.begin(intent('b'), NOW + HOUR_MS - 1);
    expect(await clearUp(push)).toBe(true);
    expect(asked).toEqual([]);
  });

  it('cannot be begun anew while it is cleared up, and can afterwards', async () => {
    const push = newPush();
    await push.begin(intent('a'));
    const meanwhile: unknown[] = [];
    vi.spyOn(HttpClient.prototype, 'fetch').mockImplementation(async (input) => {
      meanwhile.push(await push.begin(intent('b'), NOW + HOUR_MS));
      const shown = new Map<string, unknown>(Object.entries(REPOSITORY));
      const body = shown.get(`GET ${new URL(input as string).pathname}`);
      return body === undefined ? Response.json({}, { status: 404 }) : Response.json(body);
    });
    expect(await clearUp(push)).toBe(false);
    expect(meanwhile[0]).toEqual({ kind: 'busy' });
    expect(await push.begin(intent('c'), NOW + HOUR_MS)).toMatchObject({ isRepeated: false });
  });
});
