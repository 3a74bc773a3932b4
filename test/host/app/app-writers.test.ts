/** Who writes in a repository: installed, changed, suspended, removed, and out of reach. */
import { beforeEach, describe, expect, it } from 'vitest';
import { BAD_CREDENTIALS, NOT_ACCESSIBLE_TO_APP } from '../../../sandbox/known-answers.ts';
import { forgetEverything } from '../../../src/isolate/recent.ts';
import { openMaintainers, openThreads } from '../../../src/host/open.ts';
import { hostFailureOf } from '../../../src/words/host-error.ts';
import { APP, AppHost, installedAs, NAME } from './support.ts';

const COMMENT = '/repos/octo/hello/issues/comments/3';

let host: AppHost;
beforeEach(() => {
  forgetEverything();
  host = new AppHost();
});

const threads = () => openThreads(host.access);
const post = () => threads().createComment(NAME, 1, 'text');
const maintainers = () => openMaintainers(host.access, () => {});
/** Lists the tokens of what was written. */
const writers = () =>
  host.asked.filter((line) => !line.endsWith('as the App')).map((line) => line.split(' ')[2]);

describe('something new is written', () => {
  it('by the App where it is installed, and says so', async () => {
    expect(await post()).toMatchObject({ id: 3, app: APP });
    expect(writers()).toEqual(['ghs_1']);
    expect(await host.writers.payer(NAME)).toBe('installation 5');
  });

  it('by the account where it is not', async () => {
    host.state.installation = null;
    expect(await post()).not.toHaveProperty('app');
    expect(writers()).toEqual(['account']);
    expect(await host.writers.payer(NAME)).toBeNull();
  });

  it('by the account where the App lacks a permission, and the operator hears of it', async () => {
    host.state.installation = installedAs(5, { issues: 'write' });
    await post();
    expect([writers(), host.lacking]).toEqual([['account'], 1]);
  });

  it('by the account if a permission was taken since, which the token shows', async () => {
    await host.app.standing(NAME);
    host.state.installation = installedAs(5, { issues: 'write' });
    await post();
    expect(host.asked.at(-1)).toBe('POST /repos/octo/hello/issues/1/comments account');
    expect(host.lacking).toBe(1);
  });

  it('by the account while the App cannot be asked, and the operator hears why', async () => {
    host.state.broken = () => Response.json({ message: 'down' }, { status: 502 });
    await post();
    expect(writers()).toEqual(['account']);
    expect(host.failures).toHaveLength(1);
  });

  it('by the App with a new token if it was installed again', async () => {
    await post();
    host.clock.at += 60_000;
    host.state.revoked.add('ghs_1');
    host.state.installation = installedAs(6);
    expect(await post()).toMatchObject({ app: APP });
    expect(writers()).toEqual(['ghs_1', 'ghs_1', 'ghs_2']);
  });

  it('by nobody once the App was removed', async () => {
    await post();
    host.clock.at += 60_000;
    host.state.revoked.add('ghs_1');
    host.state.installation = null;
    host.absence = 'removed';
    await expect(post()).rejects.toMatchObject({ code: 'refused', publicMessage: /removed the App/ });
    expect(writers()).toEqual(['ghs_1', 'ghs_1']);
  });

  it('by nobody while the App is suspended', async () => {
    host.state.installation = { ...installedAs(5), suspended_at: '2026-11-22T00:00:00Z' };
    await expect(post()).rejects.toMatchObject({ code: 'refused', publicMessage: /suspended the App/ });
    expect(writers()).toEqual([]);
  });

  it('by nobody if the App was suspended since, which the token shows', async () => {
    await host.app.standing(NAME);
    host.state.installation = { ...installedAs(5), suspended_at: '2026-11-22T00:00:00Z' };
    await expect(post()).rejects.toMatchObject({ publicMessage: /suspended the App/ });
  });
});

describe('nothing new is written', () => {
  const SUSPENDED = { ...installedAs(5), suspended_at: '2026-11-22T00:00:00Z' };

  it('while the App is suspended and the host fails, after a webhook has told of something', async () => {
    host.state.installation = SUSPENDED;
    await host.app.standing(NAME);
    host.writers.expireInstallation(NAME);
    host.state.broken = () => Response.json({ message: 'down' }, { status: 502 });
    await expect(post()).rejects.toMatchObject({ publicMessage: /suspended the App/ });
    expect(writers()).toEqual([]);
  });

  it('while only the token says that the App is suspended', async () => {
    host.state.installation = SUSPENDED;
    host.state.hidesSuspension = true;
    await expect(post()).rejects.toMatchObject({ publicMessage: /suspended the App/ });
    expect(writers()).toEqual([]);
  });

  it('while the host has said only once that the App is missing, and it may come later', async () => {
    host.state.installation = null;
    host.absence = 'doubted';
    const error = await post().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'unreachable', publicMessage: /asked again within ten minutes/ });
    expect(hostFailureOf(error)).toMatchObject({ effect: 'none', lasts: 'until', isLocal: true });
    await expect(threads().deleteComment(NAME, 3, APP)).rejects.toMatchObject({ code: 'unreachable' });
    expect(writers()).toEqual([]);
    expect(await host.writers.isInstalled(NAME)).toBe(true);
  });
});

describe('a new token that the host does not know everywhere yet', () => {
  it.each([
    [401, BAD_CREDENTIALS],
    [403, NOT_ACCESSIBLE_TO_APP],
  ])('is tried again after a moment: %i', async (status, { body }) => {
    host.state.lag = { ms: 2_000, refuse: () => Response.json(body, { status }) };
    expect(await post()).toMatchObject({ app: APP });
    expect([writers(), host.clock.slept, host.lacking]).toEqual([['ghs_1', 'ghs_1'], [3_000], 0]);
  });

  it('is not waited for where something else is refused', async () => {
    host.state.refused = () => Response.json({ message: 'Issue is locked' }, { status: 403 });
    await expect(post()).rejects.toMatchObject({ code: 'refused' });
    expect([writers(), host.clock.slept]).toEqual([['ghs_1'], []]);
  });
});

describe('a host in trouble', () => {
  it('is not asked again for the App at once, if it does not answer', async () => {
    host.state.broken = () => {
      throw new TypeError('no answer');
    };
    for (let posts = 0; posts < 3; posts++) await post();
    expect(host.asked.filter((line) => line.endsWith('as the App'))).toHaveLength(1);
    host.clock.at += 30_000;
    host.state.broken = null;
    expect(await post()).toMatchObject({ app: APP });
  });

  it('is not asked where the App is, because it fails to make a token', async () => {
    await host.app.standing(NAME);
    host.state.broken = () => Response.json({ message: 'down' }, { status: 502 });
    await post();
    expect(host.asked.filter((line) => line.includes('/installation '))).toHaveLength(1);
  });
});

describe('a refusal that has nothing to do with the App', () => {
  it('costs a look at the installation, and no other token', async () => {
    host.state.refused = () => Response.json({ message: 'Not Found' }, { status: 404 });
    for (let posts = 0; posts < 3; posts++) await expect(post()).rejects.toMatchObject({ status: 404 });
    expect(writers()).toEqual(['ghs_1', 'ghs_1', 'ghs_1']);
  });

  it('costs no call if the host asks for fewer', async () => {
    const message = 'You have exceeded a secondary rate limit.';
    host.state.refused = () => Response.json({ message }, { status: 403 });
    await expect(post()).rejects.toMatchObject({ code: 'rate-limited' });
    expect(host.asked.filter((line) => line.includes('/installation '))).toHaveLength(1);
  });
});

describe('a private report is sent', () => {
  const REPORTING = { repository_advisories: 'write', metadata: 'read' };

  it('by the App where it may report, even if it may write nothing else', async () => {
    host.state.installation = installedAs(5, REPORTING);
    expect(await host.writers.forReport(NAME)).toMatchObject({
      token: 'ghs_1',
      app: APP,
      payer: 'installation 5',
    });
  });

  it.each<[string, () => void]>([
    ['is not installed', () => (host.state.installation = null)],
    ['may not report', () => {}],
  ])('by nobody where it %s', async (_, change) => {
    change();
    expect(await host.writers.forReport(NAME)).toBeNull();
  });

  it('by nobody while it is suspended, or cannot be asked', async () => {
    host.state.installation = { ...installedAs(5, REPORTING), suspended_at: '2026-11-22T00:00:00Z' };
    await expect(host.writers.forReport(NAME)).rejects.toMatchObject({ code: 'refused' });
    forgetEverything();
    host.state.broken = () => Response.json({ message: 'down' }, { status: 502 });
    expect(await host.writers.forReport(NAME)).toBeNull();
  });
});

describe('what was written is changed', () => {
  it('by the account, if that has written it, although the App is installed since', async () => {
    await threads().deleteComment(NAME, 3, null);
    expect(host.asked).toEqual([`DELETE ${COMMENT} account`]);
  });

  it('by the App, if that has written it', async () => {
    await threads().editComment(NAME, 3, () => 'other', APP);
    expect(writers()).toEqual(['account', 'ghs_1']);
  });

  it.each<[string, number, () => void]>([
    ['is not installed any more', APP, () => (host.state.installation = null)],
    ['is not this service’s', APP + 1, () => {}],
  ])('by nobody if its App %s', async (_, app, change) => {
    change();
    await expect(threads().deleteComment(NAME, 3, app)).rejects.toMatchObject({
      code: 'refused',
      publicMessage: /Only the App/,
    });
    expect(writers()).toEqual([]);
  });

  it('by nobody if its App is not configured any more', async () => {
    const { writers: _, ...access } = host.access;
    const without = openThreads(access);
    await expect(without.deleteComment(NAME, 3, APP)).rejects.toMatchObject({
      publicMessage: /Only the App/,
    });
    expect(host.asked).toEqual([]);
  });
});

describe('comments of the service on a thread', () => {
  const BOTS_OWN = { id: 1, type: 'User' };

  it('are those of the account and of the App', async () => {
    host.state.authors = [BOTS_OWN, { id: 99, type: 'Bot' }, { id: 7, type: 'Bot' }, { id: 8, type: 'User' }];
    expect((await threads().ownComments(NAME, 1, 0)).map(({ app }) => app)).toEqual([undefined, APP]);
  });

  it('are found where no App has written, although the App cannot be asked', async () => {
    host.state.broken = () => Response.json({ message: 'down' }, { status: 502 });
    host.state.authors = [BOTS_OWN, { id: 8, type: 'User' }];
    expect(await threads().ownComments(NAME, 1, 0)).toHaveLength(1);
  });
});

describe('what the host refuses to the App in a repository', () => {
  it.each<[string, () => Response]>([
    [
      'what it may not do',
      () => Response.json({ message: 'Resource not accessible by integration' }, { status: 403 }),
    ],
    [
      'too many calls',
      () => Response.json({ message: 'slow down' }, { status: 429, headers: { 'Retry-After': '30' } }),
    ],
  ])('says nothing of other repositories: %s', async (_, refuse) => {
    host.state.refused = refuse;
    expect(hostFailureOf(await post().catch((error: unknown) => error))).toMatchObject({
      whose: 'theirs',
      isLocal: true,
    });
  });

  it('is told as a refusal of the App, of which the operator hears', async () => {
    const { body, status } = NOT_ACCESSIBLE_TO_APP;
    host.state.refused = () => Response.json(body, { status });
    await expect(post()).rejects.toMatchObject({
      publicMessage: `api.host.test refuses the App of this service: ${body.message} (403)`,
    });
    expect(host.lacking).toBe(1);
  });
});

describe('a maintainer whom GitHub hides', () => {
  const hidden = { login: 'mona', association: 'CONTRIBUTOR' };

  it('is asked for by the App, where it is installed', async () => {
    expect(await maintainers().isStranger(NAME, hidden)).toBe(false);
    expect(await maintainers().standing(NAME, hidden)).toBe('owner');
    expect(host.asked.at(-1)).toBe('GET /repos/octo/hello/collaborators/mona/permission ghs_1');
  });

  it('is not taken for the owner, whose old name somebody may have taken since', async () => {
    host.state.permission = 'read';
    expect(await maintainers().standing(NAME, { login: 'octo', association: 'NONE' })).toBe('none');
  });

  it('costs one call on a thread while the App cannot be asked, however many have spoken there', async () => {
    host.state.broken = () => Response.json({ message: 'down' }, { status: 502 });
    const listener = maintainers();
    for (const login of ['mona', 'lisa', 'hubot'])
      expect(await listener.isStranger(NAME, { ...hidden, login })).toBe(true);
    expect([host.asked.length, host.failures.length]).toEqual([1, 1]);
  });

  it('is a stranger where it is not, or while it is suspended', async () => {
    host.state.installation = null;
    expect(await maintainers().isStranger(NAME, hidden)).toBe(true);
    host.app.expire(NAME);
    host.state.installation = { ...installedAs(5), suspended_at: '2026-11-22T00:00:00Z' };
    expect(await maintainers().standing(NAME, hidden)).toBe('none');
    expect(writers()).toEqual([]);
  });
});
