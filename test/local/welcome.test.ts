/** What `npm start` prints in front of real code hosts. */
import { expect, it } from 'vitest';
import { parseConfig } from '../../src/config.ts';
import { welcome } from '../../local/welcome.ts';

it('shows a push to a host that has a bot account, and which hosts have none', () => {
  const result = parseConfig({ HOSTS: 'my=gitea:https://git.example.org', HOSTING_TOKEN_MY: 'token' });
  if (result.kind === 'invalid') throw new Error(result.problems.map(({ message }) => message).join('; '));
  const text = welcome('http://127.0.0.1:8080', result.config.hosts, '.state');
  expect(text).toContain('git push http://127.0.0.1:8080/v1/my/<owner>/<repo> my-branch');
  expect(text).toContain('/v1/gh/<owner>/<repo>, to fetch only: HOSTING_TOKEN is not set)');
  expect(text).toContain('/v1/my/<owner>/<repo>)\n');
});
