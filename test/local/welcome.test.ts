/** What `npm start` prints in front of real code hosts. */
import { expect, it } from 'vitest';
import { welcome } from '../../local/welcome.ts';

const host = (key: string, token: string | null) =>
  ({
    key,
    kind: 'forgejo',
    url: `https://${key}.test`,
    apiUrl: `https://${key}.test/api/v1`,
    token,
  }) as const;

it('shows a push to a host that has a bot, and which host has none', () => {
  const text = welcome('http://localhost:8080', [host('gh', null), host('cb', 'secret')], '.state');
  expect(text).toContain('git push http://localhost:8080/v1/cb/<owner>/<repo> my-branch');
  expect(text).toMatch(/https:\/\/gh\.test .*read only: HOSTING_TOKEN is not set/);
  expect(text).toContain('https://cb.test  (http://localhost:8080/v1/cb/<owner>/<repo>)');
  expect(text).not.toContain('secret');
});
