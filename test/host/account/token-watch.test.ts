/**
 * Reads from answers what is wrong with the bot's token, and tests how often the operator hears of
 * it.
 */
import { describe, expect, it } from 'vitest';
import { type TokenProblem, tokenProblems } from '../../../src/host/account/token-problems.ts';
import { TokenWatch } from '../../../src/host/account/token-watch.ts';
import type { HostKind } from '../../../src/host/kinds.ts';
import { SUSPENDED_TEXT } from '../../../sandbox/known-answers.ts';
import { PatientClock } from '../support/scripted-host.ts';

const NOW = Date.parse('2026-11-22T12:00:00Z');
const ALL = 'public_repo, workflow, notifications';
const DAY_MS = 24 * 60 * 60 * 1000;

const answer = (headers: Record<string, string>, status = 200, text = '') => ({
  status,
  header: (name: string) => new Headers(headers).get(name),
  text,
});
const problems = (headers: Record<string, string>, status = 200, token = 'ghp_x') =>
  tokenProblems('github', token, answer(headers, status), NOW);

describe('a token', () => {
  it.each([
    [ALL, []],
    ['repo, workflow', []],
    ['repo', ['no-workflow']],
    ['public_repo', ['no-workflow', 'no-notifications']],
    ['', ['no-public_repo', 'no-workflow', 'no-notifications']],
    ['read:public_repo, workflows, notifications', ['no-public_repo', 'no-workflow']],
  ])('with the scopes "%s" has the problems %j', (scopes, expected) => {
    expect(problems({ 'X-OAuth-Scopes': scopes })).toEqual(expected);
  });

  it.each([
    ['2026-11-29 11:59:59 UTC', ['expires-soon']],
    ['2026-11-29 06:59:59 -0500', ['expires-soon']],
    ['2026-11-29 12:00:00 UTC', []],
    ['2026-11-01 00:00:00 UTC', ['expires-soon']],
    ['some day', []],
  ])('that ends at %s has the problems %j', (end, expected) => {
    expect(problems({ 'X-OAuth-Scopes': ALL, 'GitHub-Authentication-Token-Expiration': end })).toEqual(
      expected,
    );
  });

  it('that is fine-grained, or that the host does not know, is recognised', () => {
    expect(problems({}, 200, 'github_pat_x')).toEqual(['fine-grained']);
    expect(problems({}, 401)).toEqual(['rejected']);
  });

  it('of a host that says nothing of tokens has no problems', () => {
    expect(problems({})).toBeNull();
    expect(problems({}, 500)).toBeNull();
    expect(problems({}, 401, '')).toBeNull();
  });
});

describe('a token of Forgejo or Gitea', () => {
  it.each([
    ['this endpoint is not available for public-only tokens', ['public-only']],
    [
      'token does not have at least one of required scope(s), required=[read:notification], token scope=x',
      ['no-read:notification'],
    ],
    ['token scope is limited to public repos', null],
    ['Push to create is not enabled for users.', null],
  ])('that a call is refused for with "%s" has the problems %j', (text, expected) => {
    expect(tokenProblems('forgejo', 'x', { ...answer({}, 403), text }, NOW)).toEqual(expected);
  });
});

describe('an account', () => {
  it.each(['Sorry. Your account was suspended.', SUSPENDED_TEXT, 'ERROR: Your account is suspended.'])(
    'that the host calls suspended is recognised: %s',
    (text) => {
      const said = { ...answer({ 'X-OAuth-Scopes': ALL }, 403), text };
      expect(tokenProblems('github', 'ghp_x', said, NOW)).toEqual(['suspended']);
      expect(tokenProblems('github', 'ghp_x', { ...said, status: 200 }, NOW)).toEqual([]);
    },
  );

  it('is not taken for suspended because somebody else’s is', () => {
    const text = 'Repository access blocked. This account was suspended.';
    expect(tokenProblems('github', 'ghp_x', { ...answer({}, 403), text }, NOW)).toBeNull();
  });
});

let accounts = 0;

/** Watches the token of an account that nobody has looked at yet. */
function watching(kind: HostKind = 'github') {
  const clock = new PatientClock();
  const told: (readonly TokenProblem[])[] = [];
  const watch = new TokenWatch({
    account: `account-${(accounts += 1)}`,
    token: 'ghp_x',
    clock,
    kind,
    tell: (news) => void told.push(news),
  });
  return { clock, told, watch };
}

describe('the operator', () => {
  it('hears of a problem once a day, of another one at once, and when nothing is wrong any more', () => {
    const { clock, told, watch } = watching();
    const lacking = answer({ 'X-OAuth-Scopes': 'repo' });
    watch.observe(answer({ 'X-OAuth-Scopes': ALL }));
    watch.observe(lacking);
    watch.observe(answer({}));
    watch.observe(lacking);
    expect(told).toEqual([[], ['no-workflow']]);
    watch.observe(answer({}, 401));
    watch.observe(answer({}, 401));
    clock.at += DAY_MS;
    for (let time = 0; time < 2; time++) watch.observe(answer({}, 401));
    expect(told.slice(2)).toEqual([['rejected'], ['rejected']]);
    watch.observe(answer({ 'X-OAuth-Scopes': ALL }));
    expect(told.slice(4)).toEqual([[]]);
  });

  it('hears that a host that says nothing of tokens has taken the account back', () => {
    const { told, watch } = watching();
    watch.observe(answer({}));
    for (let time = 0; time < 2; time++) watch.observe(answer({}, 401));
    watch.observe(answer({}, 404));
    watch.observe(answer({}));
    watch.observe(answer({}));
    expect(told).toEqual([['rejected'], []]);
  });

  it('hears of no 401 that the next answer of the same service refutes', () => {
    const { told, watch } = watching();
    for (let time = 0; time < 3; time++) {
      watch.observe(answer({}, 401));
      watch.observe(answer({}));
    }
    expect(told).toEqual([]);
    watch.observe({ ...answer({}, 401), service: 'git-receive-pack' });
    watch.observe(answer({}));
    watch.observe({ ...answer({}, 401), service: 'git-receive-pack' });
    expect(told).toEqual([['rejected']]);
  });

  it('hears of scopes that Forgejo and Gitea name one by one', () => {
    const { told, watch } = watching('forgejo');
    const lacking = (scope: string) =>
      answer(
        {},
        403,
        `token does not have at least one of required scope(s), required=[${scope}], token scope=x`,
      );
    watch.observe(lacking('write:issue'));
    watch.observe(answer({}));
    watch.observe(lacking('read:notification'));
    watch.observe(lacking('write:issue'));
    expect(told).toEqual([['no-write:issue'], ['no-write:issue', 'no-read:notification']]);
  });
});

describe('Forgejo and Gitea', () => {
  it.each([
    [403, 'token does not have at least one of required scope(s): [write:issue]', ['no-write:issue']],
    [
      403,
      'token does not have at least one of required scope(s), required=[write:repository], token scope=read:user',
      ['no-write:repository'],
    ],
    [403, 'token does not have at least one of required scope(s): [write:package]', null],
    [403, 'This account is prohibited from signing in.', ['suspended']],
    [403, 'user is blocked', null],
    [401, 'invalid username, password or token', ['rejected']],
    [404, 'not found', null],
  ])('tell by %i "%s" of %j', (status, text, expected) => {
    expect(tokenProblems('forgejo', 't', answer({}, status, text), NOW)).toEqual(expected);
  });
});
