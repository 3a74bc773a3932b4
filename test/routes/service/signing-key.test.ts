/** SIGNING_KEY: where the public key is shown, and what a bad one says. */
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../../src/config/config.ts';
import type { Env } from '../../../src/env.ts';
import worker from '../../../src/worker.ts';
import { opensshKey, PUBLIC_KEY } from '../../support/openssh-key.ts';

const bindings = env as unknown as Env;
const SIGNING_KEY = opensshKey();

async function get(path: string, variables: Record<string, string> = {}): Promise<string> {
  const response = await worker.fetch(new Request(`https://veil.test${path}`), { ...bindings, ...variables });
  return `${response.status} ${response.headers.get('content-type')} ${await response.text()}`;
}

describe('the public key', () => {
  it('is a line for allowedSignersFile', async () => {
    expect(
      await get('/.well-known/gitveil-signing-key', { SIGNING_KEY, SERVICE_URL: 'https://veil.test' }),
    ).toBe(`200 text/plain;charset=UTF-8 veil.test namespaces="git" ${PUBLIC_KEY}\n`);
  });

  it('is missing where nothing is signed', async () => {
    expect(await get('/.well-known/gitveil-signing-key')).toBe(
      '404 application/json {"error":"this service does not sign commits"}',
    );
  });

  it('stands on the page for maintainers', async () => {
    expect(await get('/maintainers', { SIGNING_KEY })).toContain(`\`${PUBLIC_KEY}\``);
    expect(await get('/maintainers')).toContain('`none, this service does not sign`');
  });

  it('is all that is shown: the private key is on no page', async () => {
    const secret = Buffer.from(Uint8Array.from({ length: 32 }, (_, at) => at))
      .toString('base64')
      .slice(0, 40);
    const paths = [
      '/maintainers',
      '/health',
      '/openapi.json',
      '/metrics',
      '/.well-known/gitveil-signing-key',
    ];
    const pages = await Promise.all(paths.map((path) => get(path, { SIGNING_KEY })));
    for (const page of pages) expect(page).not.toMatch(new RegExp(`PRIVATE|${secret}`));
  });
});

describe('a key that cannot be used', () => {
  it.each([
    [opensshKey({ cipher: 'aes256-ctr' }), 'It is encrypted'],
    [opensshKey({ keyType: 'ssh-rsa' }), 'It is no Ed25519 key'],
    [SIGNING_KEY.slice(0, 200), 'It is incomplete'],
  ])('is a problem that says what to do, and not what the key is', (text, fault) => {
    const result = parseConfig({ SIGNING_KEY: text });
    expect(result.kind === 'invalid' && result.problems.map(({ message }) => message)).toEqual([
      "SIGNING_KEY must be the text of an Ed25519 key without a passphrase, as `ssh-keygen -t ed25519 -N '' -f key` " +
        `writes it into the file key. ${fault}`,
    ]);
  });
});
