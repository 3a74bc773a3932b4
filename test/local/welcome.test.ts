/** Text that `npm start` prints in front of real code hosts, and beside the embedded one. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { sandboxWelcome, welcome } from '../../local/runtime/welcome.ts';

const HERE = 'http://127.0.0.1:8080';

function welcomeOf(env: Readonly<Record<string, string>>): string {
  const result = parseConfig(env);
  if (result.kind === 'invalid') throw new Error(result.problems.map(({ message }) => message).join('; '));
  return welcome(HERE, result.config);
}

it('shows a push to a host that has a bot account, and which hosts have none', () => {
  const text = welcomeOf({ HOSTS: 'my=gitea:https://git.example.org', HOSTING_TOKEN_MY: 'token' });
  expect(text).toContain(`  service    ${HERE}\n`);
  expect(text).toContain('git push http://127.0.0.1:8080/v1/my/<owner>/<repo> my-branch');
  expect(text).toContain('/v1/gh/<owner>/<repo>, to fetch only: HOSTING_TOKEN is not set)');
  expect(text).toContain('/v1/my/<owner>/<repo>)\n');
});

it('shows the public address where there is one, as others have to use it', () => {
  const text = welcomeOf({ HOSTING_TOKEN: 'token', SERVICE_URL: 'https://anyone.example.org' });
  expect(text).toContain(`  service    https://anyone.example.org  (on this machine: ${HERE})\n`);
  expect(text).toContain('  git push https://anyone.example.org/v1/gh/<owner>/<repo> my-branch\n');
});

it('names the button of the embedded code host that ends the limits of a trial', () => {
  const text = sandboxWelcome(HERE, 'http://127.0.0.1:8081', '.state').replaceAll('\n', ' ');
  const { 1: name = '' } = /press the button "([^"]+)" on the first page of the code host/.exec(text) ?? [];
  expect(readFileSync(join(import.meta.dirname, '../../sandbox/pages/act-forms.ts'), 'utf8')).toContain(
    `button('forget-limits', '${name}')`,
  );
});

it.each([
  ['linux', 'xdg-open'],
  ['darwin', 'open'],
] as const)('opens the page of the trial as people do on %s', (platform, open) => {
  vi.spyOn(process, 'platform', 'get').mockReturnValue(platform);
  expect(sandboxWelcome(HERE, 'http://127.0.0.1:8081', '.state')).toMatch(
    new RegExp(`^  ${open} http://127\\.0\\.0\\.1:8081/`, 'm'),
  );
  vi.restoreAllMocks();
});
