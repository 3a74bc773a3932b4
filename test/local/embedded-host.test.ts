/** Checks what `npm start` sets for a service with the embedded code host. */
import { expect, it } from 'vitest';
import { hostVariables } from '../../local/runtime/embedded-host.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';

const url = 'http://127.0.0.1:8081';
const apps = { app: { id: 7, key: 'key', webhook: { secret: 'secret' } } };
const sandbox = {
  url,
  apiUrl: `${url}/api/v3`,
  notifyUrl: `${url}/ntfy`,
  botToken: 'token',
  apps,
} as unknown as Sandbox;

it('leads the service to the embedded host', () => {
  expect(hostVariables(sandbox, { LIMIT_CREATIONS: '' })).toMatchObject({
    HOSTING_URL: url,
    HOSTING_API_URL: `${url}/api/v3`,
    HOSTING_TOKEN: 'token',
    NOTIFY_BASE_URL: `${url}/ntfy`,
    GITHUB_APP_ID: '7',
    GITHUB_APP_KEY: 'key',
    GITHUB_WEBHOOK_SECRET: 'secret',
  });
});

it('leaves the operator their notification service and their limit', () => {
  const own = { NOTIFY_BASE_URL: 'https://ntfy.example', LIMIT_CREATIONS: '10/1h' };
  expect(hostVariables(sandbox, own)).toMatchObject(own);
});
