import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Env } from '../../src/env.ts';
import type { SaidWords } from '../../src/events/hear.ts';
import { utf8 } from '../../src/git/bytes.ts';
import { hashObject, type Oid } from '../../src/git/objects/oid.ts';
import { encodeTree } from '../../src/git/objects/tree.ts';
import type { KeptObject } from '../../src/git/pack/kept-objects.ts';
import type { ObjectRequest } from '../../src/git/wire/protocol-v2.ts';
import type { FileAnswer, Repository } from '../../src/host/code-host.ts';
import { HostError } from '../../src/words/host-error.ts';
import { LastKnown } from '../../src/isolate/last-known.ts';
import { Recent } from '../../src/isolate/recent.ts';
import { Policies, type PolicyHost } from '../../src/policy/policies.ts';
import { publicFiles } from '../../src/policy/public-files.ts';
import type { FilesHost } from '../../src/policy/community-files.ts';
import { OPEN_POLICY, policyRefusal } from '../../src/policy/policy.ts';
import { SealedKv } from '../../src/secret/sealed-kv.ts';
import type { RepositoryName } from '../../src/words/repository-name.ts';
import { CountedMemory } from '../support/counted-memory.ts';
import { nextNoon } from '../support/next-noon.ts';
import { timingOutOnly } from '../support/timeouts.ts';

const { LAST_KNOWN } = env as unknown as Env;
const MINUTE_MS = 60_000;
const ID = 'ab'.repeat(20);
const NOTHING_ACCEPTED = { ...OPEN_POLICY, accepted: [] };

let count = 0;
/** One that nothing remembers. */
const newRepository = () => ({ owner: 'Octo', name: `Hello-${++count}` });

const NOTHING_SAID: SaidWords = { stoppedAt: null, muted: [], isAny: false };
const STOPPED = { stoppedAt: Date.parse('2026-11-29T12:00:00Z'), muted: [], isAny: true };

/** The host: what it has, and how often it was asked. */
class FakeHost implements PolicyHost {
  readonly repositories = this;
  text: string | null = null;
  isPrivate = false;
  pullRequests: Repository['pullRequests'] = 'all';
  failure: HostError | null = null;
  words: SaidWords = NOTHING_SAID;
  wordsById: SaidWords = NOTHING_SAID;
  asked = 0;

  async repository(name: { owner: string; name: string }) {
    this.asked += 1;
    if (this.failure !== null) throw this.failure;
    const { isPrivate, pullRequests } = this;
    return { ...name, id: 1, networkId: 1, isPrivate, isArchived: false, pullRequests, sizeKb: 1 };
  }

  /** The file of the owner's other repository; null: there is no such repository. */
  ownersText: string | null = null;
  ownersFailure: Error = new HostError('missing', 'no such repository');
  readonly askedOwners: string[] = [];

  /** All others are left to the REST interface. */
  async publicFiles<T>({ owner, name }: RepositoryName, read: (files: FilesHost) => Promise<T>): Promise<T> {
    if (!/^\.(?:github|profile)$/.test(name)) throw new Error('not here');
    this.askedOwners.push(`${owner}/${name}`);
    const { ownersText } = this;
    if (ownersText === null) throw this.ownersFailure;
    return read({
      list: async () => new Map(),
      file: async () => ({ kind: 'file', content: utf8(ownersText) }),
      readAll: async () => new Map(),
    });
  }

  async list(): Promise<Map<string, Oid>> {
    return new Map();
  }

  async readAll(): Promise<ReadonlyMap<Oid, KeptObject> | null> {
    throw new HostError('unreachable', 'no objects here');
  }

  async botLogin(): Promise<string> {
    return 'bot';
  }

  pullRequestsOf(): Repository['pullRequests'] {
    return this.pullRequests;
  }

  async said(_repository: object, id: number | null) {
    return id === null ? this.words : this.wordsById;
  }

  async file(_repository: RepositoryName, _path: string): Promise<FileAnswer> {
    if (this.failure !== null) throw this.failure;
    return this.text === null ? { kind: 'missing' } : { kind: 'file', content: utf8(this.text) };
  }
}

const pending: Promise<unknown>[] = [];

/** An isolate, in the same data centre as the others or in another one. */
function isolate(
  host: PolicyHost,
  cache: Pick<Cache, 'match' | 'put' | 'delete'> = caches.default,
): Policies {
  return new Policies(
    host,
    { key: 'gh', kind: 'github' },
    new LastKnown({
      cache,
      cacheAddress: async (name) => `https://gitveil.test/.last-known/${name}`,
      kv: new SealedKv(LAST_KNOWN, async () => 'a secret'),
      memory: new Recent({ most: 10 }),
      later: (work) => void pending.push(work),
      onFailure: () => {},
    }),
  );
}

const elsewhere = { match: async () => undefined, put: async () => {}, delete: async () => false };

// Not before the platform's own clock: it drops what has expired by that.
beforeEach(() => void vi.setSystemTime(nextNoon()));
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe('what maintainers have said', () => {
  it('closes the repository at once, whatever its file says', async () => {
    const host = new FakeHost();
    host.text = 'accept: true\nanonymous_friendly: true';
    const policies = isolate(host);
    const repository = newRepository();
    expect(await policies.of(repository)).toMatchObject({ anonymousFriendly: true });
    host.words = host.wordsById = STOPPED;
    const policy = await policies.of(repository);
    expect(policy?.accepted).toEqual([]);
    expect(policy && policyRefusal(policy, repository, 'issues')).toBe(
      `${repository.owner}/${repository.name} accepts nothing from this service. Its maintainers have said stop on 2026-11-29.\nYou can still contribute with an account of your own.`,
    );
    // The badge shows the file alone.
    expect(await policies.of(repository, { isFilesOnly: true })).toMatchObject({ anonymousFriendly: true });
  });

  it('opens nothing that the file has closed', async () => {
    const host = new FakeHost();
    host.text = 'accept: false';
    host.words = host.wordsById = { ...NOTHING_SAID, isAny: true };
    expect((await isolate(host).of(newRepository()))?.accepted).toEqual([]);
  });

  it('is not believed of a name that another repository has now; but a page asks nobody', async () => {
    const host = new FakeHost();
    host.words = STOPPED;
    const policies = isolate(host);
    const repository = newRepository();
    expect(await policies.of(repository)).toMatchObject(OPEN_POLICY);
    expect(host.asked).toBe(2);
    expect((await policies.of(repository, { isPolled: true }))?.accepted).toEqual([]);
    expect(host.asked).toBe(3);
  });

  it('follows a repository to a new name', async () => {
    const host = new FakeHost();
    host.words = { ...NOTHING_SAID, isAny: true };
    host.wordsById = STOPPED;
    expect((await isolate(host).of(newRepository()))?.accepted).toEqual([]);
  });

  it('may be stop, if nobody knows: then the policy is not known', async () => {
    const host = new FakeHost();
    host.said = async () => Promise.reject(new Error('overloaded'));
    expect(await isolate(host).of(newRepository())).toBeUndefined();
  });
});

describe('the policy of a repository', () => {
  it('is waited for longer than statistics are: a slow host is no reason to refuse', async () => {
    const waits = timingOutOnly();
    await isolate(new FakeHost()).of(newRepository());
    expect(waits[0]).toBe(20_000);
  });

  it('is asked for once in five minutes, by whatever spelling of the name', async () => {
    const host = new FakeHost();
    host.text = 'accept: false';
    const policies = isolate(host);
    const { owner, name } = newRepository();
    expect(await policies.of({ owner, name })).toEqual(NOTHING_ACCEPTED);
    host.text = null;
    vi.setSystemTime(Date.now() + 4 * MINUTE_MS);
    expect(await policies.of({ owner: 'octo', name: name.toLowerCase() })).toEqual(NOTHING_ACCEPTED);
    expect(host.asked).toBe(1);
    vi.setSystemTime(Date.now() + 2 * MINUTE_MS);
    expect(await policies.of({ owner, name })).toEqual(OPEN_POLICY);
  });

  it('is asked for anew by badges and pages, whose speed would tell of a push, and once by all of them', async () => {
    const host = new FakeHost();
    const policies = isolate(host);
    const repository = newRepository();
    await policies.of(repository, { isUrgent: true });
    await policies.of(repository, { isPolled: true });
    await Promise.all(pending);
    await isolate(host).of(repository, { isPolled: true });
    await isolate(host).of(repository);
    expect(host.asked).toBe(2);
  });

  it.each([
    ['none', 'octo/hello takes no pull requests.'],
    ['collaborators', 'octo/hello takes pull requests only from its collaborators.'],
  ] as const)('takes no pull requests where the host takes those of %s, and says so', async (from, said) => {
    const host = new FakeHost();
    host.pullRequests = from;
    const policy = await isolate(host).of(newRepository());
    expect(policy?.accepted).toEqual(['issues', 'comments']);
    const refusal = policyRefusal(policy ?? OPEN_POLICY, { owner: 'octo', name: 'hello' }, 'pull_requests');
    expect(refusal).toBe(said);
  });

  it.each([
    ['private', (host: FakeHost) => (host.isPrivate = true)],
    ['missing', (host: FakeHost) => (host.failure = new HostError('missing', 'no such repository'))],
  ])('that is %s is none, and leaves nothing behind', async (_, arrange) => {
    const host = new FakeHost();
    host.text = 'anonymous_friendly: true';
    arrange(host);
    await Promise.all(pending);
    const before = await LAST_KNOWN.list();
    const repository = newRepository();
    const policies = isolate(host);
    expect(await policies.of(repository)).toBeNull();
    expect(await policies.of(repository)).toBeNull();
    expect(host.asked).toBe(1);
    await Promise.all(pending);
    expect((await LAST_KNOWN.list()).keys).toEqual(before.keys);
  });

  it('is the last known one while the host does not answer, in every data centre', async () => {
    const host = new FakeHost();
    host.text = 'accept: false';
    const repository = newRepository();
    await isolate(host).of(repository);
    await Promise.all(pending);
    host.failure = new HostError('unreachable', 'the host is down');
    vi.setSystemTime(Date.now() + 60 * MINUTE_MS);
    expect(await isolate(host).of(repository)).toEqual(NOTHING_ACCEPTED);
    expect(await isolate(host, elsewhere).of(repository)).toEqual(NOTHING_ACCEPTED);
  });

  it('is the last known one while the host lists a file and does not show it', async () => {
    const host = new FakeHost();
    host.list = async () => new Map([['.gitveil.yml', ID]]);
    host.text = 'accept: false';
    const repository = newRepository();
    await isolate(host).of(repository);
    await Promise.all(pending);
    host.text = null;
    vi.setSystemTime(Date.now() + 60 * MINUTE_MS);
    expect(await isolate(host).of(repository)).toEqual(NOTHING_ACCEPTED);
    expect(await isolate(host).of(newRepository())).toBeUndefined();
  });

  it('still denounces the bot while the host does not say who that is, or says that there is none', async () => {
    const host = new FakeHost();
    host.list = async () => new Map([['VOUCHED.td', ID]]);
    host.file = async (_repository, path) =>
      path === 'VOUCHED.td' ? { kind: 'file', content: utf8('-bot') } : { kind: 'missing' };
    const repository = newRepository();
    const denounced = { accepted: ['issues', 'comments'], community: { standing: { kind: 'denounced' } } };
    expect(await isolate(host).of(repository)).toMatchObject(denounced);
    await Promise.all(pending);
    host.botLogin = () => Promise.reject(new HostError('missing', 'no such account'));
    vi.setSystemTime(Date.now() + 60 * MINUTE_MS);
    expect(await isolate(host).of(repository)).toMatchObject(denounced);
    expect(await isolate(host).of(newRepository())).toBeUndefined();
  });

  it('is known, without gates, where only they cannot be read', async () => {
    const host = new FakeHost();
    host.list = async () =>
      new Map([
        ['AGENTS.md', ID],
        ['CONTRIBUTING.md', ID],
      ]);
    const policy = await isolate(host).of(newRepository());
    expect(policy?.community).toMatchObject({ contributing: '.github/CONTRIBUTING.md', gates: [] });
  });

  it('is not known when the host does not answer and never has, and is asked for again at once', async () => {
    const host = new FakeHost();
    const repository = newRepository();
    const policies = isolate(host);
    host.failure = new HostError('rate-limited', 'slow down');
    expect(await policies.of(repository)).toBeUndefined();
    host.failure = null;
    expect(await policies.of(repository)).toEqual(OPEN_POLICY);
  });
});

it('never reads what an earlier version has kept under another shape', async () => {
  const asked: string[] = [];
  const match = async (address: RequestInfo | URL) => void asked.push(address as string);
  const policies = isolate(new FakeHost(), { ...elsewhere, match });
  for (const how of [{}, { isPolled: true }, { isFilesOnly: true }]) await policies.of(newRepository(), how);
  expect(asked.length).toBeGreaterThanOrEqual(3);
  expect(asked.filter((address) => /\/(?:polled-)?policy\//.test(address))).toEqual([]);
});

/** A host whose owner refuses all, and a repository of one that nothing remembers. */
function ownersHost(text: string | null = 'accept: false') {
  const host = new FakeHost();
  host.ownersText = text;
  const owner = `Owner-${++count}`;
  return { host, owner, repository: { owner, name: 'hello' } };
}

describe('the policy of an owner', () => {
  it('counts where a repository has no file, and names itself', async () => {
    const { host, owner, repository } = ownersHost();
    expect(await isolate(host).of(repository)).toEqual({ ...NOTHING_ACCEPTED, owners: `${owner}/.github` });
    expect(host.askedOwners).toEqual([`${owner}/.github`]);
  });

  it('is that of the present owner after a transfer', async () => {
    const { host } = ownersHost();
    const owner = `Owner-${++count}`;
    const known = await host.repository({ owner, name: 'hello' });
    host.repository = async () => known;
    const old = { owner: `Owner-${++count}`, name: 'hello' };
    expect(await isolate(host).of(old)).toMatchObject({ accepted: [], owners: `${owner}/.github` });
    const looked = Promise.resolve(known);
    await isolate(host, elsewhere).of({ ...old, name: 'again' }, { isUrgent: true, looked });
    expect(new Set(host.askedOwners)).toEqual(new Set([`${owner}/.github`]));
  });

  it('is asked for once, whatever repositories of the owner are asked about', async () => {
    const { host, owner, repository } = ownersHost();
    const policies = isolate(host);
    for (const name of ['hello', 'world', 'again']) await policies.of({ owner, name }, { isUrgent: true });
    expect(host.askedOwners).toHaveLength(1);
    // A fast answer would tell whoever looks at a badge that somebody has just pushed.
    await policies.of(repository, { isPolled: true });
    expect(host.askedOwners).toHaveLength(2);
  });

  it('does not count beside a file of the repository, which wins whole', async () => {
    const { host, repository } = ownersHost('accept: false\nsign_off: required');
    host.text = 'workflows: false';
    expect(await isolate(host).of(repository)).toEqual({ ...OPEN_POLICY, refusesWorkflows: true });
    expect(host.askedOwners).toEqual([]);
  });

  it('never turns the badge green', async () => {
    const { host, repository } = ownersHost('anonymous_friendly: true');
    expect(await isolate(host).of(repository)).toMatchObject({ anonymousFriendly: false, problem: null });
  });

  it('refuses everything if it is invalid', async () => {
    const { host, repository } = ownersHost('acept: false');
    expect(await isolate(host).of(repository)).toMatchObject({
      accepted: [],
      problem: expect.stringContaining('acept'),
    });
  });

  it('is open where there is none, also if that was forgotten', async () => {
    const { host, repository } = ownersHost(null);
    expect(await isolate(host).of(repository)).toEqual(OPEN_POLICY);
  });

  it('is asked for by REST where Git cannot say', async () => {
    const { host, repository } = ownersHost(null);
    host.ownersFailure = new Error('a file is a symbolic link');
    host.file = async ({ name }) =>
      name === '.github' ? { kind: 'file', content: utf8('accept: false') } : { kind: 'missing' };
    expect(await isolate(host).of(repository)).toMatchObject({ accepted: [] });
  });

  it('leaves the answer unknown while nobody can say it, because a missing answer is no consent', async () => {
    const { host, repository } = ownersHost(null);
    host.ownersFailure = new HostError('unreachable', 'the host is down');
    host.file = async ({ name }) => {
      if (name === '.github') throw host.ownersFailure;
      return { kind: 'missing' };
    };
    const policies = isolate(host);
    expect(await policies.of(repository)).toBeUndefined();
    host.ownersFailure = new HostError('missing', 'no such repository');
    expect(await policies.of(repository)).toEqual(OPEN_POLICY);
  });

  it('has no part in what only the repository says, so nobody needs to say it', async () => {
    const { host, repository } = ownersHost(null);
    host.ownersFailure = new HostError('unreachable', 'the host is down');
    expect(await isolate(host).of(repository, { isPolled: true, isFilesOnly: true })).toEqual(OPEN_POLICY);
    expect(host.askedOwners).toEqual([]);
  });

  it('stands in .profile at Gitea and Forgejo', async () => {
    const { host, owner, repository } = ownersHost();
    const kept = {
      kv: new SealedKv(LAST_KNOWN, async () => 'a secret'),
      memory: new Recent<{ value: unknown; freshUntil: number }>({ most: 10 }),
    };
    const places = { cache: elsewhere, cacheAddress: async (name: string) => name, ...kept };
    const lastKnown = new LastKnown({
      ...places,
      later: (work) => void pending.push(work),
      onFailure: () => {},
    });
    await new Policies(host, { key: 'cb', kind: 'forgejo' }, lastKnown).of(repository);
    expect(host.askedOwners).toEqual([`${owner}/.profile`]);
  });
});

/** A repository with so many files at its root; answers what reads it. */
function repositoryOf(names: readonly string[]) {
  const objects = new Map<Oid, KeptObject>();
  const add = (type: KeptObject['type'], content: Uint8Array): Oid => {
    const oid = hashObject(type, content);
    objects.set(oid, { type, oid, content });
    return oid;
  };
  const blob = add('blob', utf8('accept: false\n'));
  const tree = add(
    'tree',
    encodeTree(names.map((name) => ({ mode: '100644', name: utf8(name), oid: blob }))),
  );
  const headTip = add(
    'commit',
    utf8(`tree ${tree}\nauthor A <a@a> 1 +0000\ncommitter A <a@a> 1 +0000\n\nA\n`),
  );
  return {
    discover: async () => {},
    listRefs: async () => ({
      refs: [],
      head: 'refs/heads/main',
      headTip,
      hasAllBranches: true,
      hostAheadMs: 0,
    }),
    readObjects: async (_: object, { wants }: ObjectRequest) =>
      new Map(
        wants
          .flatMap((oid) => [...objects.values()].filter((object) => object.oid === oid))
          .map((o) => [o.oid, o]),
      ),
  };
}

it('counts a file in memory with the folder that it stands in, which may be large', async () => {
  const names = Array.from({ length: 10_000 }, (_, index) => `file-${index}`);
  const memory = new CountedMemory();
  const transport = repositoryOf(['.gitveil.yml', ...names]);
  const files = await publicFiles({ transport, memory }, newRepository());
  expect(await files.file('.gitveil.yml')).toEqual({ kind: 'file', content: utf8('accept: false\n') });
  expect(memory.mostBytes).toBeGreaterThan(10_000 * 250);
});
