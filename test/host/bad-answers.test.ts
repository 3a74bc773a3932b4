/**
 * Every call to the host against everything that a host may answer instead: no call ends in
 * anything but a HostError with a sentence for the person, or in the result that the answer stands
 * for; nothing is created twice; and the same call works when the host is itself again.
 */
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  type ActivityHost,
  type AgitHost,
  type CodeHost,
  type ForkHost,
  openActivity,
  openPrivateReports,
  openRepositories,
  openThreads,
  type PrivateReportHost,
  type ThreadHost,
} from '../../src/host/open.ts';
import { GitTransport } from '../../src/host/git/git-transport.ts';
import { HostError } from '../../src/words/host-error.ts';
import type { HostKind } from '../../src/host/kinds.ts';
import { SmartHttp } from '../../src/host/git/smart-http.ts';
import { MemoryBudget } from '../../src/isolate/memory-budget.ts';
import { ACCOUNT } from './support/back-off.ts';
import { REPOSITORY } from './support/repository.ts';
import { API, json, PatientClock, type Script, ScriptedHost } from './support/scripted-host.ts';
import { exhaustive } from '../support/exhaustive.ts';
import { pktText } from '../support/pkt-line.ts';

const NAME = { owner: 'octo', name: 'hello' };
const FORK = { owner: 'bot', name: 'hello' };
const OID = 'a'.repeat(40);
const HEAD = { owner: 'bot', branch: 'anon-1' };

interface World {
  readonly repositories: CodeHost;
  readonly threads: ThreadHost;
  readonly activity: ActivityHost;
  readonly reports: PrivateReportHost;
  readonly git: GitTransport;
}

function opened(kind: HostKind, script: Script): World & { http: ScriptedHost } {
  const http = new ScriptedHost(script);
  const clock = new PatientClock();
  const apiUrl = kind === 'github' ? API : `${API}/api/v1`;
  const access = { kind, apiUrl, token: 'secret', http, ...ACCOUNT, clock };
  const smart = new SmartHttp('https://host.test', { token: 'secret', ...ACCOUNT }, http);
  return {
    http,
    repositories: openRepositories(access),
    threads: openThreads(access),
    activity: openActivity(access, () => {}),
    reports: openPrivateReports(access),
    git: new GitTransport(smart, clock, new MemoryBudget().open(clock), null),
  };
}

const pullOn = (kind: HostKind) => ({
  id: 33,
  number: 3,
  title: 't',
  html_url: 'https://host.test/octo/hello/pull/3',
  state: 'open',
  user: { id: 1, login: 'bot' },
  base: { ref: 'main' },
  head: {
    label: kind === 'github' ? 'bot:anon-1' : 'anon-1',
    ref: 'anon-1',
    sha: OID,
    user: { login: 'bot' },
    repo: null,
  },
});
const comment = { id: 3, html_url: 'https://host.test/octo/hello/issues/1#3', body: 'x', user: { id: 1 } };
const found = { id: 7, name: 'hello', owner: { login: 'octo' }, private: false, archived: false, size: 1 };
const forked = { ...found, id: 8, owner: { login: 'bot' }, parent: { id: 7 } };
const ref = { object: { sha: OID } };
const bytes = (text: string) => new TextEncoder().encode(text);
const body = () => new Response('PACK').body as ReadableStream<Uint8Array>;

/** A host in its right mind. */
const soundAs =
  (kind: HostKind): Script =>
  ({ method, path }) => {
    const pull = pullOn(kind);
    if (path.endsWith('/git-receive-pack')) {
      return new Response(
        `${pktText(`\u0001${pktText('unpack ok\n')}${pktText('ok refs/heads/x\n')}0000`)}0000`,
      );
    }
    if (path.endsWith('/info/refs?service=git-receive-pack')) {
      return new Response(
        `${pktText('# service=git-receive-pack\n')}0000${pktText(`${OID} refs/x\0push-options\n`)}0000`,
      );
    }
    if (path.endsWith('/git-upload-pack')) return new Response(`${pktText(`${OID} refs/heads/main\n`)}0000`);
    if (method === 'DELETE') return new Response(null, { status: 204 });
    if (path.endsWith('/user')) return json(200, { id: 1, login: 'bot' });
    if (path.endsWith('/forks')) return json(202, forked);
    if (path.includes('/git/ref')) return json(method === 'POST' ? 201 : 200, ref);
    if (/\/(merge-upstream|branches)$/.test(path)) return json(200, {});
    if (path.includes('/contents/')) {
      return json(200, { type: 'file', encoding: 'base64', content: '' });
    }
    if (/\/pulls(\?|$)/.test(path)) return method === 'POST' ? json(201, pull) : json(200, [pull]);
    if (path.endsWith('/pulls/3') || path.endsWith('/pulls/main/bot%2Fanon-1')) {
      const state = method === 'PATCH' ? 'closed' : 'open';
      return json(200, { ...pull, state, closed_at: null, merged: false, merged_at: null });
    }
    if (/\/(reviews|notifications|files)(\?|$)/.test(path)) return json(200, []);
    if (/\/issues\/\d+\/comments/.test(path))
      return method === 'POST' ? json(201, comment) : json(200, [comment]);
    if (path.includes('/issues/comments/3')) return json(200, comment);
    if (path.endsWith('/issues/3')) {
      return json(200, { number: 3, title: 'T', state: 'open', locked: false, is_locked: false });
    }
    if (/\/issues\?.*state=open/.test(path)) return json(200, []);
    if (path.endsWith('/private-vulnerability-reporting')) return json(200, { enabled: true });
    if (path.endsWith('/reports'))
      return json(201, { ghsa_id: 'GHSA-2222-3333-4444', html_url: comment.html_url });
    if (path.endsWith('/issues')) return json(201, { number: 5, html_url: comment.html_url });
    return json(200, found);
  };

const report = {
  summary: 's',
  description: 'd',
  rating: { severity: 'low' },
  package: { ecosystem: 'other', name: 'p' },
  vulnerableVersions: '',
  patchedVersions: '',
  cweIds: [],
} as const;
const request = { head: HEAD, isDraft: false, base: 'main', title: 't', body: 'b' };

/** `creates`: the path of what must not come into being twice. */
type Calls = Readonly<Record<string, { run: (world: World) => Promise<unknown>; creates?: RegExp }>>;

const forks = ({ repositories }: World) => repositories as ForkHost;
const agit = ({ repositories }: World) => repositories as AgitHost;
const UPSTREAM = { repository: REPOSITORY, name: 'main', tip: OID };

/** Calls that only one way of opening pull requests needs. */
const OWN_CALLS: Readonly<Record<'github' | 'gitea', Calls>> = {
  github: {
    fork: { run: (world) => forks(world).fork(REPOSITORY) },
    syncBranch: { run: (world) => forks(world).syncBranch(FORK, UPSTREAM) },
    addBranch: { run: (world) => forks(world).addBranch(FORK, UPSTREAM, OID) },
    deleteBranch: { run: (world) => forks(world).deleteBranch(FORK, 'anon-1') },
    openPullRequest: { run: (world) => forks(world).openPullRequest(NAME, request), creates: /\/pulls$/ },
    'whether private reports are taken': { run: ({ reports }) => reports.areTaken(NAME) },
    'sending a private report': { run: ({ reports }) => reports.send(NAME, report), creates: /\/reports$/ },
  },
  gitea: {
    delivered: { run: (world) => agit(world).delivered(NAME, 3, request) },
    findDelivered: { run: (world) => agit(world).findDelivered(NAME, 'bot', OID) },
    'capabilities of receive-pack': { run: ({ git }) => git.pushCapabilities(NAME) },
  },
};

/** By name. */
const CALLS: Calls = {
  account: { run: ({ repositories }) => repositories.account() },
  repository: { run: ({ repositories }) => repositories.repository(NAME) },
  file: { run: ({ repositories }) => repositories.file(NAME, '.gitveil.yml') },
  findPullRequest: { run: ({ repositories }) => repositories.findPullRequest(NAME, HEAD) },
  closePullRequest: { run: ({ repositories }) => repositories.closePullRequest(NAME, 3, null) },
  editPullRequest: { run: ({ repositories }) => repositories.editPullRequest(NAME, 3, { title: 't' }, null) },
  createComment: { run: ({ threads }) => threads.createComment(NAME, 1, 'x'), creates: /\/comments$/ },
  createIssue: {
    run: ({ threads }) => threads.createIssue(NAME, { title: 't', body: 'b', labels: [] }),
    creates: /\/issues$/,
  },
  ownComments: { run: ({ threads }) => threads.ownComments(NAME, 1, 0) },
  editComment: { run: ({ threads }) => threads.editComment(NAME, 3, () => 'y', null) },
  deleteComment: { run: ({ threads }) => threads.deleteComment(NAME, 3, null) },
  'the feed': { run: ({ activity }) => activity.feed(0, null, () => true) },
  'a followed pull request': { run: ({ activity }) => activity.pullRequest(NAME, 3) },
  remarks: { run: ({ activity }) => activity.remarks(NAME, 3, 0) },
  'a conversation': { run: ({ activity }) => activity.conversation(NAME, 3) },
  'open threads': { run: ({ activity }) => activity.newestThreads(NAME) },
  'listing refs': { run: ({ git }) => git.listRefs(FORK, [], 'bot') },
  'listing history': { run: ({ git }) => git.listHistory(NAME, { wants: [OID] }, 1000) },
  pushing: { run: ({ git }) => git.push(FORK, body()) },
};

const html = (status: number) =>
  new Response('<html><h1>Unicorn!</h1></html>', { status, headers: { 'Content-Type': 'text/html' } });
const invalid = (...errors: unknown[]) => json(422, { message: 'Validation Failed', errors });

function brokenOff(): Response {
  const { readable, writable } = new IdentityTransformStream();
  const writer = writable.getWriter();
  void writer.write(bytes('{"id": 3, "na')).then(
    () => writer.abort(new Error('reset')),
    () => {},
  );
  writer.closed.catch(() => {});
  return new Response(readable, { headers: { 'Content-Type': 'application/json' } });
}

/** `isUnknown`: the host may have done what it was asked for all the same. */
const ANSWERS: Readonly<Record<string, { answer: () => Response; isUnknown?: boolean }>> = {
  '301 to nowhere': { answer: () => json(301, { message: 'Moved' }) },
  '302 to itself': { answer: () => json(302, {}, { Location: `${API}/x` }) },
  '303 to another server': { answer: () => json(303, {}, { Location: 'https://elsewhere.test/' }) },
  '401': { answer: () => json(401, { message: 'Bad credentials' }) },
  '403 for this repository': { answer: () => json(403, { message: 'Repository access blocked' }) },
  '403 for a suspended account': { answer: () => json(403, { message: 'Your account was suspended' }) },
  '403 for a secondary limit': {
    answer: () => json(403, { message: 'You have exceeded a secondary rate limit.' }),
  },
  '403 for the hour': { answer: () => json(403, {}, { 'X-RateLimit-Remaining': '0' }) },
  '404': { answer: () => json(404, { message: 'Not Found' }) },
  '409': { answer: () => json(409, { message: 'Git Repository is empty.' }) },
  '410': { answer: () => json(410, { message: 'Issues are disabled for this repo' }) },
  '422 that names fields': { answer: () => invalid({ resource: 'X', field: 'base', code: 'invalid' }) },
  '422 with sentences': { answer: () => invalid('one', 'two') },
  '422 of another shape': { answer: () => json(422, { message: 7, errors: { a: [null] } }) },
  '422 with nothing': { answer: () => new Response(null, { status: 422 }) },
  '429': { answer: () => json(429, {}) },
  '451': { answer: () => json(451, { message: 'Repository access blocked' }) },
  '500': { answer: () => json(500, { message: 'Server Error' }), isUnknown: true },
  '502 with a page': { answer: () => html(502), isUnknown: true },
  '503': { answer: () => new Response(null, { status: 503 }), isUnknown: true },
  'an empty body': { answer: () => new Response(''), isUnknown: true },
  'a page': { answer: () => html(200), isUnknown: true },
  'JSON that is null': { answer: () => json(200, null), isUnknown: true },
  'JSON that is a text': { answer: () => json(201, 'done'), isUnknown: true },
  'JSON of another shape': {
    answer: () => json(201, { id: 'three', number: -1, name: '../x' }),
    isUnknown: true,
  },
  'a list of something else': { answer: () => json(200, [{ message: 'odd' }]), isUnknown: true },
  'a list of nothing': { answer: () => json(200, [null]), isUnknown: true },
  'numbers as texts': {
    answer: () => json(201, { id: '3', number: '3', html_url: comment.html_url, user: null, head: null }),
    isUnknown: true,
  },
  'a body that stops': { answer: brokenOff, isUnknown: true },
};

/** Answers that some calls know what to make of. */
const MEANINGFUL: Readonly<Record<string, readonly string[]>> = {
  file: ['404', '410', '451', 'a list of something else', 'a list of nothing'],
  editComment: ['404', '410', '451'],
  deleteComment: ['404', '410', '451'],
  'a followed pull request': ['404', '410', '451'],
  'a conversation': ['404', '410', '451'],
  'open threads': ['404', '410', '451'],
  remarks: ['404', '410', '451'],
  // Nothing is younger than was asked for: Git then says nothing, or what it likes.
  'listing history': ['an empty body', 'a page', 'JSON that', 'JSON of', 'a list', 'a body', 'numbers'],
};

afterEach(() => {
  vi.restoreAllMocks();
});

/**
 * Calls that are read and not tried again. They hand errors on as they are: whoever asked has words
 * of its own.
 */
const RAW = new Set(['the feed', 'a followed pull request', 'remarks', 'a conversation', 'open threads']);

function expectSentence(error: unknown): void {
  expect(error).toBeInstanceOf(HostError);
  const { publicMessage } = error as HostError;
  expect(publicMessage).toMatch(/^[^\n<]{10,}$/);
  expect(publicMessage).not.toMatch(/undefined|null|\[object|NaN/);
}

function expectOneCreation({ asked }: ScriptedHost, creates: RegExp): void {
  const places = asked.flatMap(({ method, path }, at) =>
    method === 'POST' && creates.test(path) ? [at] : [],
  );
  for (const [before, at] of places
    .slice(1)
    .map((place, index) => [places[index] as number, place] as const)) {
    // Only after a look.
    expect(asked.slice(before, at).some(({ method }) => method === 'GET')).toBe(true);
  }
}

const KINDS = ['github', 'gitea'] as const;
const CASES = KINDS.flatMap((kind) =>
  Object.entries({ ...OWN_CALLS[kind], ...CALLS }).map(([name, call]) => ({ kind, name, call })),
);

describe.each(CASES)('$kind: $name', ({ kind, name, call: { run, creates } }) => {
  const sound = soundAs(kind);

  it.each(Object.entries(ANSWERS))('bears %s', exhaustive, async (what, { answer, isUnknown = false }) => {
    let isSound = false;
    const world = opened(kind, (asked) => (isSound ? sound(asked) : answer()));
    const outcome = await run(world).then(
      (value: unknown) => ({ value }),
      (error: unknown) => ({ error }),
    );
    const isMeaningful = MEANINGFUL[name]?.some((start) => what.startsWith(start)) === true;
    if (!isMeaningful) expect(outcome, JSON.stringify(outcome)).toHaveProperty('error');
    if ('error' in outcome && !RAW.has(name)) expectSentence(outcome.error);
    if (creates !== undefined) {
      if (isUnknown) expect(outcome).toMatchObject({ error: { code: 'unreachable' } });
      expectOneCreation(world.http, creates);
    }
    isSound = true;
    if (name !== 'listing history') await run(world);
  });

  // Listing and pushing have time limits of their own: test/host/git.
  if (name.startsWith('listing') || name === 'pushing') return;
  it('bears silence', async () => {
    const world = opened(kind, () => Promise.reject(new DOMException('too late', 'TimeoutError')));
    const error = await run(world).catch((failure: unknown) => failure);
    expectSentence(error);
    expect(error).toMatchObject({ code: 'unreachable' });
    if (creates !== undefined) expectOneCreation(world.http, creates);
  });
});
