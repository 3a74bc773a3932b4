/** What answers tell about the bot's token, and how often the operator hears of it. */
import { describe, expect, it } from 'vitest';
import type { TokenProblem } from '../../../src/host/account/account-rules.ts';
import { TokenWatch } from '../../../src/host/account/token-watch.ts';
import { FORGEJO_RULES } from '../../../src/host/forgejo/account-rules.ts';
import { GITHUB_RULES } from '../../../src/host/github/account-rules.ts';
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
  GITHUB_RULES.tokenProblems(token, answer(headers, status), NOW);

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

describe('the operator', () => {
  it('hears of a problem once a day, and of another one at once', () => {
    const clock = new PatientClock();
    const told: (readonly TokenProblem[])[] = [];
    const watch = new TokenWatch({
      account: 'a',
      token: 'ghp_x',
      clock,
      rules: GITHUB_RULES,
      tell: (news) => void told.push(news),
    });
    const lacking = answer({ 'X-OAuth-Scopes': 'repo' });
    watch.observe(answer({ 'X-OAuth-Scopes': ALL }));
    watch.observe(lacking);
    watch.observe(answer({}));
    watch.observe(lacking);
    expect(told).toEqual([['no-workflow']]);
    watch.observe(answer({}, 401));
    clock.at += DAY_MS;
    watch.observe(answer({}, 401));
    expect(told.slice(1)).toEqual([['rejected'], ['rejected']]);
  });
});
