/**
 * Refusals mean the same, whichever call meets them: every form of a limit pauses the account, and
 * no write is repeated.
 */
import { describe, expect, it } from 'vitest';
import { type ForkHost, openActivity, openRepositories, openThreads } from '../../src/host/open.ts';
import { type HostAnswer, limitOf, type Operation } from '../../src/host/failure.ts';
import type { HostKind } from '../../src/host/kinds.ts';
import { SmartHttp } from '../../src/host/git/smart-http.ts';
import {
  CLASSIC_FORBIDDEN_GIT,
  CLASSIC_FORBIDDEN_REST,
  NOT_ALLOWED_REST,
  NOT_ALLOWED_TEXT,
  SECONDARY_TEXT,
} from '../../sandbox/known-answers.ts';
import { type KnownLimit, knownLimits } from '../../sandbox/known-limits.ts';
import { ACCOUNT } from './support/back-off.ts';
import { REPOSITORY } from './support/repository.ts';
import { API, PatientClock, ScriptedHost } from './support/scripted-host.ts';

const MINUTE_MS = 60_000;
const NOW = Date.parse('2026-11-22T12:00:00Z');
/** The host's clock is five minutes ahead. */
const HOST_NOW = new Date('2026-11-22T12:05:00Z');
const LIMITS = knownLimits(HOST_NOW);

const FORK = { owner: 'bot', name: 'hello' };
const OID = 'a'.repeat(40);
const UPSTREAM = { repository: REPOSITORY, name: 'main', tip: OID };
const HEAD = { owner: 'bot', branch: 'anon-1' };
const BOT = { id: 1, login: 'bot' };

function opened(kind: HostKind, http: ScriptedHost) {
  const access = { kind, apiUrl: API, token: 'secret', http, ...ACCOUNT, clock: new PatientClock() };
  const threads = openThreads(access);
  const activity = openActivity(access, () => {});
  return { ...access, host: openRepositories(access), threads, activity };
}

type Opened = ReturnType<typeof opened>;

const READS: readonly [string, (world: Opened) => Promise<unknown>][] = [
  ['the account', ({ host }) => host.account()],
  ['a repository', ({ host }) => host.repository(REPOSITORY)],
  ['a file', ({ host }) => host.file(REPOSITORY, '.gitveil.yml')],
  ['a pull request’s branch', ({ host }) => host.findPullRequest(REPOSITORY, HEAD)],
  ['comments', ({ threads }) => threads.ownComments(REPOSITORY, 1, 0)],
  ['the feed', ({ activity }) => activity.feed(0, null, () => false)],
  ['a pull request', ({ activity }) => activity.pullRequest(REPOSITORY, 1)],
  ['remarks', ({ activity }) => activity.remarks(REPOSITORY, 1, 0)],
  ['a conversation', ({ activity }) => activity.conversation(REPOSITORY, 1)],
];

const PULL = { head: HEAD, base: 'main', title: 't', body: 'b', isDraft: false };

type Write = readonly [string, (world: Opened) => Promise<unknown>];

const forks = ({ host }: Opened) => host as ForkHost;

/** Only where pull requests come from forks. */
const FORK_WRITES: readonly Write[] = [
  ['a fork', (world) => forks(world).fork(REPOSITORY)],
  ['a sync', (world) => forks(world).syncBranch(FORK, UPSTREAM)],
  ['a branch', (world) => forks(world).addBranch(FORK, UPSTREAM, OID)],
  ['the end of a branch', (world) => forks(world).deleteBranch(FORK, 'anon-1')],
  ['a pull request', (world) => forks(world).openPullRequest(REPOSITORY, PULL)],
];

/** Each begins with a write, or, where it says so, with reads that succeed. */
const WRITES: readonly Write[] = [
  ['another title', ({ host }) => host.editPullRequest(REPOSITORY, 1, { title: 't' }, null)],
  ['the end of a pull request', ({ host }) => host.closePullRequest(REPOSITORY, 1, null)],
  ['a comment', ({ threads }) => threads.createComment(REPOSITORY, 1, 'text')],
  ['an issue', ({ threads }) => threads.createIssue(REPOSITORY, { title: 't', body: 'b', labels: [] })],
  ['the end of a comment', ({ threads }) => threads.deleteComment(REPOSITORY, 1, null)],
];

function sent({ answer: { status, headers = {}, body = '' } }: Pick<KnownLimit, 'answer'>): Response {
  return typeof body === 'string'
    ? new Response(body || null, { status, headers })
    : Response.json(body, { status, headers });
}

const to = (...which: KnownLimit['to'][]) => LIMITS.filter((limit) => which.includes(limit.to));

describe.each<HostKind>(['github', 'forgejo'])('a limit of %s', (kind) => {
  const writes = kind === 'github' ? [...FORK_WRITES, ...WRITES] : WRITES;
  const world = (limit: KnownLimit) => {
    // Forgejo is asked who the bot is, and whether a thread is there, before something is written.
    const isSent = (method: string) => method !== 'GET' || limit.to !== 'rest write';
    const http = new ScriptedHost(({ method }) => (isSent(method) ? sent(limit) : Response.json(BOT)));
    return opened(kind, http);
  };

  it.each(to('rest'))('$name stops every call, and nothing is asked twice', async (limit) => {
    for (const [what, call] of [...READS, ...writes]) {
      const made = world(limit);
      const failure = await call(made).then(
        () => null,
        (error: unknown) => error,
      );
      expect([what, failure]).toEqual([what, expect.objectContaining({ code: 'rate-limited' })]);
      const { asked } = made.http;
      expect([what, new Set(asked.map(({ method, path }) => `${method} ${path}`)).size]).toEqual([
        what,
        asked.length,
      ]);
    }
  });

  it.each(to('rest', 'rest write'))('$name stops every write, which is sent once', async (limit) => {
    for (const [what, call] of writes) {
      const made = world(limit);
      const failure = await call(made).then(
        () => null,
        (error: unknown) => error,
      );
      expect([what, failure]).toEqual([what, expect.objectContaining({ code: 'rate-limited' })]);
      expect(made.http.writes.length).toBeLessThanOrEqual(1);
    }
  });
});

describe('a limit of Git', () => {
  it.each(to('git'))('$name stops reads and pushes, and is no missing repository', async (limit) => {
    for (const service of ['git-upload-pack', 'git-receive-pack'] as const) {
      for (const caller of ['bot', 'public'] as const) {
        const host = new ScriptedHost(() => sent(limit));
        const http = new SmartHttp('https://host.test', { token: 'secret', ...ACCOUNT }, host);
        const post = http.post(REPOSITORY, service, caller, new Uint8Array(0));
        await expect(post).rejects.toMatchObject({ code: 'rate-limited' });
        expect(host.asked).toHaveLength(1);
      }
    }
  });
});

function meaning(status: number, headers: Record<string, string>, text = '', operation: Operation = 'read') {
  const all = new Headers(headers);
  const header: HostAnswer['header'] = (name) => all.get(name);
  return limitOf({ operation, status, header, text, codes: [] }, NOW);
}

describe('the meaning of an answer', () => {
  it.each(LIMITS)('$name: nothing was done, and for how long, by the host’s clock', async (limit) => {
    const { status, headers, body = '' } = limit.answer;
    const { message = '', errors = [] } = (typeof body === 'string' ? { message: body } : body) as {
      message?: string;
      errors?: { code: string; message?: string }[];
    };
    const all = new Headers(headers);
    const answer = {
      operation: 'write' as const,
      status,
      header: (name: string) => all.get(name),
      text: [message, ...errors.map((error) => error.message ?? '')].join(' '),
      codes: errors.map(({ code }) => code),
    };
    const failure = limitOf(answer, NOW);
    expect(failure).toMatchObject({ retryAfterMs: limit.waitMs });
    expect(failure?.says).not.toContain('203.0.113.77');
  });

  it.each([
    ['no time at all', { 'Retry-After': '0' }, 1_000],
    ['a time that has passed', { 'Retry-After': '-5' }, 1_000],
    ['a year', { 'Retry-After': '31536000' }, 60 * MINUTE_MS],
    [
      'an hour that never comes',
      { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '99999999999' },
      60 * MINUTE_MS,
    ],
    ['nobody knows when', { 'X-RateLimit-Remaining': '0' }, null],
    ['nonsense', { 'Retry-After': 'soon', 'X-RateLimit-Remaining': '0' }, null],
  ])('that asks to wait for %s is bounded', (_, headers, ms) => {
    for (const status of [403, 429]) expect(meaning(status, headers)?.retryAfterMs).toBe(ms);
  });

  it('is no limit where the host refuses for another reason, or does not refuse', () => {
    expect(meaning(403, {}, 'Repository access blocked')).toBeNull();
    // Who names an organization so must not stop the account.
    for (const name of ['rate-limit-x', 'rate_limit', 'secondary-rate-limits'])
      expect(meaning(403, {}, `The \`${name}\` organization has an IP allow list enabled.`)).toBeNull();
    expect(meaning(403, { 'X-RateLimit-Remaining': '4999', 'X-RateLimit-Reset': '1' }, 'No.')).toBeNull();
    for (const status of [200, 401, 404, 422, 500, 503]) {
      expect(meaning(status, {}, SECONDARY_TEXT, 'write')).toBeNull();
    }
    expect(meaning(422, {}, 'Validation Failed: head invalid', 'write')).toBeNull();
    // A read creates nothing.
    expect(meaning(422, {}, 'was submitted too quickly', 'read')).toBeNull();
  });
});

describe('an organization that does not accept the token of the service', () => {
  it.each([
    CLASSIC_FORBIDDEN_REST.body.message,
    CLASSIC_FORBIDDEN_GIT.body.trim(),
    "The 'octo' organization forbids access via a fine-grained personal access tokens if the token's lifetime is greater than 90 days.",
    'Resource protected by organization SAML enforcement. You must grant your Personal Access token access to this organization.',
  ])('is told to the person without what only the operator could do: %s', async (message) => {
    for (const [what, call] of [...FORK_WRITES, ...WRITES]) {
      const http = new ScriptedHost(() => Response.json({ message }, { status: 403 }));
      const error: unknown = await call(opened('github', http)).catch((thrown: unknown) => thrown);
      expect([what, error]).toEqual([
        what,
        expect.objectContaining({
          code: 'refused',
          publicMessage: expect.stringMatching(/^The organization that owns the repository does not accept/),
          // For the log.
          said: expect.stringContaining(message.slice(0, 30)),
        }),
      ]);
      const calls = http.asked.map(({ method, path }) => `${method} ${path}`);
      expect([what, calls]).toEqual([what, [...new Set(calls)]]);
    }
  });
});

describe('the words of a host that names the address that it was asked from', () => {
  it('come without it, by both interfaces', async () => {
    const http = new ScriptedHost(() => sent({ answer: NOT_ALLOWED_REST }));
    const rest = await forks(opened('github', http))
      .fork(REPOSITORY)
      .catch((error: unknown) => error);
    const git = await new SmartHttp(
      'https://host.test',
      { token: 'secret', ...ACCOUNT },
      new ScriptedHost(() => new Response(NOT_ALLOWED_TEXT, { status: 403 })),
    )
      .post(REPOSITORY, 'git-receive-pack', 'bot', new Uint8Array(0))
      .catch((error: unknown) => error);
    const said = expect.stringContaining('and [removed] is not permitted');
    for (const error of [rest, git]) {
      expect(error).toMatchObject({ code: 'refused', publicMessage: said, said });
    }
  });
});
