/** Calls that an App makes for its installations and tokens, and how often. */
import { beforeEach, describe, expect, it } from 'vitest';
import { APP_GONE } from '../../../sandbox/known-answers.ts';
import { isInstalled } from '../../../src/host/app/github-app.ts';
import { forgetEverything } from '../../../src/isolate/recent.ts';
import { AppHost, installedAs, NAME } from './support.ts';

const MINUTE_MS = 60_000;
const LOOK = 'GET /repos/octo/hello/installation as the App';
const TOKEN = 'POST /app/installations/5/access_tokens as the App';
const STANDING = { id: 5, isSuspended: false, mayWrite: true, mayReport: false };

const refusing = (status: number, body: object) => () => Response.json(body, { status });

let host: AppHost;
beforeEach(() => {
  forgetEverything();
  host = new AppHost();
});

describe('an installation', () => {
  it.each([null, 'removed', 'doubted'] as const)('is none where the App is %s', (standing) => {
    expect(isInstalled(standing)).toBe(false);
  });

  it('is looked up once an hour', async () => {
    for (const minutes of [0, 30, 29]) {
      host.clock.at += minutes * MINUTE_MS;
      expect(await host.app.standing(NAME)).toEqual(STANDING);
    }
    expect(host.asked).toEqual([LOOK]);
    host.clock.at += 2 * MINUTE_MS;
    await host.app.standing(NAME);
    expect(host.asked).toEqual([LOOK, LOOK]);
  });

  it('is looked up again after five minutes if there is none', async () => {
    host.state.installation = null;
    expect(await host.app.standing(NAME)).toBeNull();
    host.clock.at += 4 * MINUTE_MS;
    expect(await host.app.standing({ owner: 'Octo', name: 'Hello' })).toBeNull();
    host.clock.at += 2 * MINUTE_MS;
    host.state.installation = installedAs(5);
    expect(await host.app.standing(NAME)).toEqual(STANDING);
    expect(host.asked).toHaveLength(2);
  });

  it('is noted when it was looked up, and not when it was remembered', async () => {
    await host.app.standing(NAME);
    await host.app.standing(NAME);
    host.app.expire(NAME);
    host.state.installation = null;
    host.absence = 'removed';
    expect(await host.app.standing(NAME)).toBe('removed');
    expect(host.noted).toEqual(['octo/hello yes', 'octo/hello no']);
  });

  it('is not missing where the host does not know the App at all', async () => {
    await host.app.standing(NAME);
    host.app.expire(NAME);
    host.state.broken = () => Response.json(APP_GONE.body, { status: APP_GONE.status });
    await expect(host.app.standing(NAME)).rejects.toMatchObject({
      failure: { whose: 'ours' },
      publicMessage: 'api.host.test refuses the App of this service: Integration not found (404)',
    });
    expect(host.noted).toEqual(['octo/hello yes']);
  });

  it('may not write without a permission, or while it is suspended', async () => {
    host.state.installation = installedAs(5, { issues: 'write', pull_requests: 'read' });
    expect(await host.app.standing(NAME)).toEqual({ ...STANDING, mayWrite: false });
    host.app.expire(NAME);
    host.state.installation = { ...installedAs(5), suspended_at: '2026-11-22T00:00:00Z' };
    expect(await host.app.standing(NAME)).toEqual({ ...STANDING, isSuspended: true });
  });
});

describe('a token', () => {
  it('is narrowed to the repository and to what writing takes', async () => {
    expect(await host.app.token(STANDING, NAME, 'writing')).toBe('ghs_1');
    expect(JSON.parse(host.http.writes[0]!.body)).toEqual({
      repositories: ['hello'],
      permissions: { issues: 'write', pull_requests: 'write', metadata: 'read' },
    });
  });

  it('for private reports can do nothing else, and is another one', async () => {
    host.state.installation = installedAs(5, { repository_advisories: 'write', metadata: 'read' });
    expect(await host.app.standing(NAME)).toMatchObject({ mayWrite: false, mayReport: true });
    expect(await host.app.token(STANDING, NAME, 'reporting')).toBe('ghs_1');
    expect(JSON.parse(host.http.writes[0]!.body)).toMatchObject({
      permissions: { repository_advisories: 'write', metadata: 'read' },
    });
    host.state.installation = installedAs(5);
    expect(await host.app.token(STANDING, NAME, 'writing')).toBe('ghs_2');
  });

  it('is used for 55 minutes, and another one after that', async () => {
    for (const minutes of [0, 54]) {
      host.clock.at += minutes * MINUTE_MS;
      expect(await host.app.token(STANDING, NAME, 'writing')).toBe('ghs_1');
    }
    host.clock.at += 2 * MINUTE_MS;
    expect(await host.app.token(STANDING, NAME, 'writing')).toBe('ghs_2');
    expect(host.asked).toEqual([TOKEN, TOKEN]);
  });

  it.each([NAME, { owner: 'octo', name: 'other' }])('is of one repository: %j', async (name) => {
    await host.app.token(STANDING, NAME, 'writing');
    expect(await host.app.token(STANDING, name, 'writing')).toBe(name === NAME ? 'ghs_1' : 'ghs_2');
  });
});

describe('a repository', () => {
  it.each([
    ['where the installation is gone', refusing(404, { message: 'Not Found' })],
    ['that the installation has lost', refusing(422, { message: 'There is at least one repository …' })],
  ])('%s is not covered', async (_, broken) => {
    host.state.broken = broken;
    expect(await host.app.covers(5, 7)).toBe(false);
  });

  it('may be covered where the host refuses a token because there were too many', async () => {
    host.state.broken = refusing(422, { message: 'Validation Failed', errors: [{ code: 'abuse' }] });
    await expect(host.app.covers(5, 7)).rejects.toMatchObject({ code: 'rate-limited' });
  });
});

describe('a clock that is off', () => {
  it.each([-5, 15])('by %i minutes is found out with one call more', async (minutes) => {
    host.state.skewMs = minutes * MINUTE_MS;
    expect(await host.app.standing(NAME)).toEqual(STANDING);
    expect(await host.app.token(STANDING, NAME, 'writing')).toBe('ghs_1');
    expect(host.asked).toEqual([LOOK, LOOK, TOKEN]);
  });

  it('by some minutes, which the host bears, does not cost a token for each write', async () => {
    host.state.skewMs = 8 * MINUTE_MS;
    for (let writes = 0; writes < 3; writes++)
      expect(await host.app.token(STANDING, NAME, 'writing')).toBe('ghs_1');
    expect(host.asked).toEqual([TOKEN]);
  });

  it('does not explain a refusal if the host has the same time', async () => {
    host.state.broken = () =>
      Response.json(
        { message: 'A JSON web token could not be decoded' },
        { status: 401, headers: { Date: new Date(host.clock.now()).toUTCString() } },
      );
    await expect(host.app.standing(NAME)).rejects.toMatchObject({ status: 401 });
    expect(host.asked).toHaveLength(1);
  });
});

it('knows its account, and asks for it once an hour', async () => {
  for (let time = 0; time < 2; time++)
    expect(await host.app.account()).toEqual({ id: 99, login: 'veil-app[bot]' });
  expect(host.asked).toEqual(['GET /app as the App', 'GET /users/veil-app%5Bbot%5D account']);
});
