import { describe, expect, it } from 'vitest';
import { type Action, type Alert, pardonOf, pseudonymOf } from '../../src/notify/alert.ts';
import { alertNotification } from '../../src/notify/alert-message.ts';

const facts = {
  topic: 'operator',
  serviceUrl: 'https://gitveil.test',
  at: Date.UTC(2026, 10, 21, 15, 4, 5),
  address: null,
  tokens: new Map<Action, string>([
    ['activate-panic', 'aa'],
    ['rollback', 'bb'],
    ['deactivate-panic', 'cc'],
  ]),
};
const rateLimit: Alert = { kind: 'rate-limit', client: 'client-0123abcd', attempts: 6 };

describe('an alert', () => {
  it('names both figures of a burst, and when it was noticed', () => {
    expect(alertNotification({ kind: 'burst', events: 20, addresses: 7, most: 7 }, facts)).toMatchObject({
      topic: 'operator',
      title: 'Suspicious burst of pushes',
      message:
        'Suspicious burst: 20 pushes from 7 distinct IPs in the last 60 s. The most active client sent 7 of them. Noticed at 2026-11-21T15:04:05Z.',
      priority: 5,
    });
  });

  it('names the address, the limit and the attempts of a rate limit', () => {
    const { message } = alertNotification(rateLimit, { ...facts, address: '192.0.2.1' });
    expect(message).toBe(
      'Rate limit exceeded: IP 192.0.2.1 is over the limit of 5 PRs per hour (attempt 6). ' +
        'Noticed at 2026-11-21T15:04:05Z.',
    );
  });

  it('names a pseudonym where the address is not known or not to be shown', () => {
    expect(alertNotification(rateLimit, facts).message).toContain('IP client-0123abcd is over');
    expect(pseudonymOf('0123abcd'.repeat(8))).toBe('client-0123abcd');
  });

  it('has three buttons, each with a token of its own', () => {
    const post = {
      action: 'http',
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
    };
    expect(alertNotification(rateLimit, facts).actions).toEqual([
      {
        ...post,
        label: 'Activate panic',
        url: 'https://gitveil.test/admin/panic',
        body: '{"token":"aa","active":true}',
      },
      {
        ...post,
        label: 'Close burst PRs',
        url: 'https://gitveil.test/admin/rollback',
        body: '{"token":"bb"}',
      },
      {
        ...post,
        label: 'Deactivate panic',
        url: 'https://gitveil.test/admin/panic',
        body: '{"token":"cc","active":false}',
      },
    ]);
  });

  it('of a flood has buttons that concern comments and issues', () => {
    const flood: Alert = { kind: 'flood', events: 40, addresses: 20, most: 3 };
    const { actions = [], priority } = alertNotification(flood, facts);
    expect(priority).toBe(5);
    const buttons = actions.map(
      (action) => action.action === 'http' && [action.label, action.url, action.body],
    );
    expect(buttons).toEqual([
      [
        'Suspend comments',
        'https://gitveil.test/admin/panic',
        '{"token":"aa","active":true,"scope":"writes"}',
      ],
      [
        'Remove comments, issues',
        'https://gitveil.test/admin/rollback',
        '{"token":"bb","comments":true,"issues":true,"spare_single":true}',
      ],
      [
        'Allow comments',
        'https://gitveil.test/admin/panic',
        '{"token":"cc","active":false,"scope":"writes"}',
      ],
    ]);
  });

  it('of private reports has no button that would undo them', () => {
    const reports: Alert = { kind: 'reports', events: 5, addresses: 1, most: 5 };
    for (const alert of [reports, { kind: 'more', of: 'reports', count: 2 } as const]) {
      const { actions = [] } = alertNotification(alert, facts);
      expect(actions.map(({ label }) => label)).toEqual(['Suspend comments', 'Allow comments']);
    }
  });

  it.each(['git.example.org', '127.0.0.1:3000'])(
    'of a token names the host %s, and what to do',
    (hostName) => {
      const account = { hostName, variable: 'HOSTING_TOKEN_MY' };
      expect(alertNotification({ kind: 'token', account, problems: ['public-only'] }, facts).message).toBe(
        `The token of the bot account at ${hostName} is limited to public repositories (public-only), so nobody ` +
          'is notified of comments and merges: make one without that limit. Set another HOSTING_TOKEN_MY. ' +
          'Noticed at 2026-11-21T15:04:05Z.',
      );
    },
  );

  it.each([
    ['app-permission', /^github\.com has not granted the App all permissions .* Run `npm run doctor`: /],
    ['app-refused', /^github\.com refuses the App: its key .* Run `npm run doctor`: /],
  ] as const)('of an App says what is wrong, and the command that says more: %s', (problem, message) => {
    const account = { hostName: 'github.com', variable: 'HOSTING_TOKEN' };
    expect(alertNotification({ kind: 'token', account, problems: [problem] }, facts)).toMatchObject({
      title: 'Something is wrong with the App',
      message: expect.stringMatching(message),
    });
  });

  const hash = '1a2b3c4d';
  const pardon = { ...facts, tokens: new Map([[pardonOf(hash), 'dd']]) };
  const flagged = { kind: 'moderation', hash, state: 'flagged', reports: 3, isLast: false } as const;

  it('says what reports have led to, with a button that pardons and a link to the report page', () => {
    const alert: Alert = { ...flagged, comments: 2, repository: 'octo/hello' };
    expect(alertNotification(alert, pardon)).toMatchObject({
      title: 'anon-1a2b3c4d is flagged',
      message:
        'anon-1a2b3c4d is flagged after 3 reports: its karma is 0, and it has to pause for 6 hours. ' +
        'Comments left: 2, on octo/hello. Noticed at 2026-11-21T15:04:05Z.',
      click: 'https://gitveil.test/v1/moderation/report?hash=1a2b3c4d',
      actions: [
        {
          label: 'Pardon anon-1a2b3c4d',
          url: 'https://gitveil.test/admin/pardon',
          body: '{"token":"dd","hash":"1a2b3c4d"}',
        },
      ],
    });
    const last: Alert = { ...flagged, state: 'blocked', comments: 0, repository: null, isLast: true };
    expect(alertNotification(last, pardon).message).toContain(
      'its comments are being deleted. It has no comments. More of these alerts wait until the hour is over',
    );
  });

  it('passes an appeal on as one line of quoted text', () => {
    const text = 'I only\n\nasked.\nNoticed at noon.';
    const { message, title } = alertNotification(
      { kind: 'appeal', hash, state: 'blocked', reports: 6, text },
      pardon,
    );
    expect(title).toBe('Appeal of anon-1a2b3c4d');
    expect(message).toBe(
      'anon-1a2b3c4d (blocked, 6 reports) writes: “I only asked. Noticed at noon.” Noticed at 2026-11-21T15:04:05Z.',
    );
  });
});
