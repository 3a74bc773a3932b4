/** Answers to a push by something in front of the service, and the setting that is named. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { remedyOf, wallFindings } from '../../local/operator/wall-check.ts';

const GIT = 'application/x-git-receive-pack-result';
const NOT_CONFIGURED = '{"error":"the service is not configured: PORT must be a number"}';

it.each([
  [403, { 'cf-mitigated': 'challenge', server: 'cloudflare' }, 'Bot Fight Mode'],
  [302, { location: 'https://team.cloudflareaccess.com/cdn-cgi/access/login' }, 'Cloudflare Access'],
  [301, { location: 'https://git.example.org/' }, 'SERVICE_URL'],
  [403, { server: 'cloudflare' }, 'error 1010', 'error code: 1010'],
  [403, { server: 'cloudflare' }, 'error 1010', '<p>Error 1010 … based on your browser’s signature'],
  [429, { server: 'cloudflare' }, 'error 1015', 'error code: 1015'],
  [403, { server: 'cloudflare' }, 'WAF'],
  [413, { server: 'nginx' }, 'client_max_body_size'],
  [413, { server: 'cloudflare' }, 'client_max_body_size'],
  [502, { server: 'nginx' }, 'does not reach the service'],
  [500, {}, 'is not configured', NOT_CONFIGURED],
  [200, {}, 'Something in front of the service'],
])('%i %j is known by its answer', (status, headers, setting, page = '<html>') => {
  const known = new Headers(headers as Record<string, string>);
  const header = (name: string): string => known.get(name) ?? '';
  expect(remedyOf({ status, header, text: page })).toContain(setting);
});

/** Asks a server that answers everything so. */
async function foundBehind(status: number, contentType: string | null, body: string) {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(status, contentType === null ? {} : { 'Content-Type': contentType }).end(body);
    });
  }).listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const serviceUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const findings = await wallFindings({ serviceUrl, isServiceUrlGiven: true } as Config);
  server.close();
  return findings.map(({ state, says }) => `${state} ${says}`);
}

it.each([
  ['a page', 200, 'text/html', '<html>'],
  ['words of Cloudflare’s to a program', 403, 'text/plain; charset=UTF-8', 'error code: 1010'],
  ['nothing, as Caddy answers when it does not reach the service', 502, null, ''],
  ['nothing, as Caddy refuses a large body', 413, null, ''],
  ['words of the service’s that no Git client reads', 500, 'application/json', NOT_CONFIGURED],
])('%s is a wall', async (_what, status, contentType, body) => {
  expect(await foundBehind(status, contentType, body)).toEqual([
    `problem closed: a push does not arrive (${status})`,
  ]);
});

it('an answer for Git is none', async () => {
  const [open] = await foundBehind(200, GIT, '');
  expect(open).toMatch(/^ok open: 127\.0\.0\.1:\d+ answers pushes$/);
});
