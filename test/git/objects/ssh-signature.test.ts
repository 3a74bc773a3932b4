/**
 * Signatures of commits, as `ssh-keygen -Y sign -n git` makes them, and which keys can make them.
 * test/e2e/push/signed.test.ts has real keys, and lets Git verify what reaches the host.
 */
import { describe, expect, it } from 'vitest';
import { readSigningKey, UnusableKey } from '../../../src/git/objects/ssh-signature.ts';
import { armored, opensshKey, PUBLIC_KEY } from '../../support/openssh-key.ts';

/** By `printf 'tree 1\n\nhello\n' | ssh-keygen -Y sign -n git -f key`, with the same key. */
const SIGNED = `gpgsig -----BEGIN SSH SIGNATURE-----
 U1NIU0lHAAAAAQAAADMAAAALc3NoLWVkMjU1MTkAAAAgA6EHv/POEL4dcN0Y50vAmWfk1j
 CbpQ1fHdyGZBJVMbgAAAADZ2l0AAAAAAAAAAZzaGE1MTIAAABTAAAAC3NzaC1lZDI1NTE5
 AAAAQFIob7BRD+rwVP0xHAeDJF3UEUibVgLIaSRKg+QG73/mlunFE6lnSrVEOpFibWuGRt
 R1Mqo0R0Q1FxIvrqLEyQo=
 -----END SSH SIGNATURE-----
`;

const KEY = opensshKey();

describe('a signing key', () => {
  it('signs as ssh-keygen does, in however many parts, and the same each time', () => {
    const key = readSigningKey(KEY);
    expect(key.publicKey).toBe(PUBLIC_KEY);
    expect(key.header(key.sign('tree 1\n\nhello\n'))).toBe(SIGNED);
    expect(key.header(key.sign('tree 1\n', '\n', Buffer.from('hello\n')))).toBe(SIGNED);
    expect(key.header(key.sign('tree 1\n\nhello!\n'))).not.toBe(SIGNED);
  });

  it.each([
    ['CRLF', KEY.replaceAll('\n', '\r\n')],
    ['spaces', KEY.replaceAll('\n', ' ')],
    ['written line feeds', KEY.replaceAll('\n', '\\n')],
    ['none', KEY.replaceAll('\n', '')],
    ['blank lines around it', `\n\n${KEY}\n\n`],
  ])('is read with other line breaks: %s', (_, text) => {
    expect(readSigningKey(text).publicKey).toBe(PUBLIC_KEY);
  });

  const base64 = KEY.split('\n').slice(1, -2).join('');
  const cut = (length: number) => armored('OPENSSH PRIVATE KEY', base64.slice(0, length));
  it.each([
    ['encrypted', opensshKey({ cipher: 'aes256-ctr' }), 'It is encrypted'],
    ['of RSA', opensshKey({ keyType: 'ssh-rsa' }), 'It is no Ed25519 key'],
    ['of hardware', opensshKey({ keyType: 'sk-ssh-ed25519@openssh.com' }), 'It is no Ed25519 key'],
    ['PEM', armored('RSA PRIVATE KEY', 'AAAA'), 'It is not in the format of OpenSSH'],
    ['PKCS#8', armored('PRIVATE KEY', 'AAAA'), 'It is not in the format of OpenSSH'],
    ['public', `${PUBLIC_KEY} ada@laptop\n`, 'It is a public key'],
    ['the path of a file', '/etc/gitveil/key', 'It is no private key'],
    ['empty', armored('OPENSSH PRIVATE KEY', ''), 'It is incomplete'],
    ['without its last line', KEY.slice(0, KEY.indexOf('-----END')), 'It is incomplete'],
    ['the first line alone', KEY.split('\n')[0] ?? '', 'It is incomplete'],
    ['two keys', opensshKey({ keys: 2 }), 'It is incomplete'],
    ['broken', opensshKey({ checks: [1, 2] }), 'It is incomplete'],
    ['another seed', opensshKey({ seed: new Uint8Array(32) }), 'It is incomplete'],
    ['a short seed', opensshKey({ seed: new Uint8Array(3) }), 'It is incomplete'],
  ])('is refused: %s', (_, text, message) => {
    expect(() => readSigningKey(text)).toThrow(new UnusableKey(message));
  });

  it('is refused at whatever length it is cut', () => {
    for (let length = 0; length < base64.length - 40; length += 4)
      expect(() => readSigningKey(cut(length))).toThrow(UnusableKey);
  });
});
