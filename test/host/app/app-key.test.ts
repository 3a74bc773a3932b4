/** Keys of GitHub Apps as GitHub, OpenSSL and mistakes make them, and the tokens that they sign. */
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readAppKey } from '../../../src/host/app/app-key.ts';

const NOW = Date.parse('2026-11-22T12:00:00Z');
const RSA = generateKeyPairSync('rsa', { modulusLength: 2048 });
const exported = (type: 'pkcs1' | 'pkcs8', more = {}): string =>
  RSA.privateKey.export({ type, format: 'pem', ...more }).toString();
const locked = { cipher: 'aes-256-cbc', passphrase: 'secret' };

async function claimsBy(text: string): Promise<unknown> {
  const token = await readAppKey(text).token(17, NOW);
  const [head = '', claims = '', signature = ''] = token.split('.');
  const isSigned = verify(
    'sha256',
    Buffer.from(`${head}.${claims}`),
    createPublicKey(RSA.publicKey.export({ type: 'spki', format: 'pem' })),
    Buffer.from(signature, 'base64url'),
  );
  expect(isSigned).toBe(true);
  expect(JSON.parse(Buffer.from(head, 'base64url').toString())).toEqual({ alg: 'RS256', typ: 'JWT' });
  return JSON.parse(Buffer.from(claims, 'base64url').toString());
}

describe('the key of an App', () => {
  it.each([
    ['as GitHub gives it', exported('pkcs1')],
    ['as PKCS#8', exported('pkcs8')],
    ['on one line', exported('pkcs1').replaceAll('\n', '')],
    [String.raw`with \n for each line break`, exported('pkcs1').replaceAll('\n', String.raw`\n`)],
  ])('signs a token of at most ten minutes %s', async (_, text) => {
    const now = NOW / 1000;
    expect(await claimsBy(text)).toEqual({ iat: now - 60, exp: now + 540, iss: '17' });
  });

  it.each([
    ['encrypted as PKCS#8', exported('pkcs8', locked), /encrypted.*openssl rsa/],
    ['encrypted as PKCS#1', exported('pkcs1', locked), /encrypted.*openssl rsa/],
    ['cut off', exported('pkcs1').slice(0, 900), 'It is incomplete'],
    ['without its middle', exported('pkcs8').split('\n').toSpliced(9, 1).join('\n'), 'It is incomplete'],
    ['a public key', RSA.publicKey.export({ type: 'pkcs1', format: 'pem' }).toString(), 'RSA PUBLIC KEY'],
    ['empty', '-----BEGIN RSA PRIVATE KEY-----\n-----END RSA PRIVATE KEY-----', 'It is incomplete'],
    ['the name of a file', 'app.pem', 'It is no private key'],
    [
      'of another kind',
      generateKeyPairSync('ec', { namedCurve: 'P-256' })
        .privateKey.export({ type: 'pkcs8', format: 'pem' })
        .toString(),
      'It is no RSA key',
    ],
  ])('is refused if it is %s', (_, text, why) => {
    expect(() => readAppKey(text)).toThrow(why);
  });
});
