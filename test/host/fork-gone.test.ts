/** Answers of hosts about a fork that somebody has deleted, and about one that is still there. */
import { describe, expect, it } from 'vitest';
import { GitTransport } from '../../src/host/git/git-transport.ts';
import { SmartHttp } from '../../src/host/git/smart-http.ts';
import { openRepositories } from '../../src/host/open.ts';
import { isolateMemory } from '../../src/isolate/memory-budget.ts';
import { isDetached, isForkGone } from '../../src/host/ready-fork.ts';
import { ACCOUNT } from './support/back-off.ts';
import { REPOSITORY } from './support/repository.ts';
import { json, PatientClock, type Script, ScriptedHost } from './support/scripted-host.ts';

const FORK = { owner: 'bot', name: 'hello' };
const PUSH_TO_CREATE = 'Push to create is not enabled for users.';

const repository = (name: string) =>
  json(200, {
    id: 8,
    name,
    full_name: `bot/${name}`,
    owner: { id: 1, login: 'bot' },
    private: false,
    archived: false,
    size: 1,
  });
const missing = () => json(404, { message: 'Not Found' });

/** Pushes and lists, where Git gets one answer and REST another. */
function asked(kind: 'forgejo' | 'github', git: () => Response, rest: Script) {
  const http = new ScriptedHost((request) => (request.path.includes('.git/') ? git() : rest(request)));
  const clock = new PatientClock();
  const access = { apiUrl: 'https://host.test/api/v1', token: 'secret', http, ...ACCOUNT, clock };
  const repositories = openRepositories({ kind, ...access });
  const smartHttp = new SmartHttp('https://host.test', access, http);
  const transport = new GitTransport(smartHttp, clock, isolateMemory.open(clock), null);
  const restCalls = () => http.asked.filter(({ path }) => path.startsWith('/api/')).length;
  return { repositories, transport, restCalls };
}

async function failureOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => null,
    (error: unknown) => error,
  );
}

const text = (status: number, body: string) => () => new Response(body, { status });
const silent = () => {
  throw new TypeError('no connection');
};

describe.each(['forgejo', 'github'] as const)('a fork at %s', (kind) => {
  it.each([
    ['403 to a push', text(403, PUSH_TO_CREATE)],
    ['404', text(404, 'Repository not found')],
    ['500', text(500, '')],
  ])('is gone if Git is answered with %s, and REST does not know it', async (_, git) => {
    const { repositories, transport } = asked(kind, git, missing);
    const pushed = await failureOf(transport.push(FORK, new Blob(['0000']).stream()));
    const listed = await failureOf(transport.listRefs(FORK, ['HEAD'], 'bot'));
    for (const error of [pushed, listed]) {
      expect(await isForkGone({ repositories }, FORK, error)).toBe(true);
    }
  });

  it.each([
    ['403', text(403, PUSH_TO_CREATE)],
    ['500', text(500, '')],
  ])('is there if Git is answered with %s, and REST knows it, or does not say', async (_, git) => {
    for (const rest of [() => repository('hello'), () => json(403, {}), () => json(502, {})]) {
      const { repositories, transport } = asked(kind, git, rest);
      const error = await failureOf(transport.listRefs(FORK, ['HEAD'], 'bot'));
      expect(await isForkGone({ repositories }, FORK, error)).toBe(false);
    }
  });

  it('is gone if REST says that it has another name', async () => {
    const { repositories, transport } = asked(kind, text(500, ''), () => repository('renamed'));
    const error = await failureOf(transport.listRefs(FORK, ['HEAD'], 'bot'));
    expect(await isForkGone({ repositories }, FORK, error)).toBe(true);
  });

  it('is not asked for if the host asks to wait, or did not answer', async () => {
    for (const git of [() => json(429, {}, { 'Retry-After': '3600' }), silent]) {
      const { repositories, transport, restCalls } = asked(kind, git, missing);
      const error = await failureOf(transport.listRefs(FORK, ['HEAD'], 'bot'));
      expect(await isForkGone({ repositories }, FORK, error)).toBe(false);
      expect(restCalls()).toBe(0);
    }
  });
});

describe('a fork that is there', () => {
  const upstream = { ...REPOSITORY, id: 1, networkId: 1 };
  const shown = async (network: object) => {
    const { repositories } = asked('github', missing, async () => {
      const fork = await repository('hello').json<object>();
      return json(200, { ...fork, ...network });
    });
    return isDetached({ repositories }, upstream, FORK);
  };

  it('is one of upstream’s only in its network', async () => {
    expect(await shown({ source: { id: 1 } })).toBe(false);
    expect(await shown({})).toBe(true);
    expect(await shown({ source: { id: 2 } })).toBe(true);
  });

  it('counts as one while nobody can tell', async () => {
    for (const answer of [missing, silent]) {
      const { repositories } = asked('github', missing, answer);
      expect(await isDetached({ repositories }, upstream, FORK)).toBe(false);
    }
  });
});
