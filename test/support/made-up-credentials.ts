/**
 * Credentials that nobody has, made when they are needed, so that no file of this repository holds
 * one.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const word = (length: number, digits = DIGITS): string =>
  Array.from(randomBytes(length), (byte) => digits[byte % digits.length]).join('');

function checked(prefix: string): string {
  const entropy = word(30);
  let sum = crc32(entropy);
  let checksum = '';
  for (let at = 0; at < 6; at++) {
    checksum = DIGITS[sum % 62] + checksum;
    sum = Math.floor(sum / 62);
  }
  return `${prefix}_${entropy}${checksum}`;
}

function macaroon(): string {
  const end = Buffer.concat([Buffer.from([6, 32]), randomBytes(32)]);
  return `pypi-${Buffer.concat([Buffer.from([2, 1, 8]), Buffer.from('pypi.org'), randomBytes(80), end]).toString('base64url')}`;
}

const openssh = (): string => {
  const body = Buffer.concat([Buffer.from('openssh-key-v1\0'), randomBytes(280)]).toString('base64');
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${body.replaceAll(/.{70}/g, '$&\n')}\n-----END OPENSSH PRIVATE KEY-----\n`;
};

const pem = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();

/** With a checksum, or a structure that nobody writes by hand. */
export const PROVEN: Readonly<Record<string, () => string>> = {
  'of GitHub': () => checked('ghp'),
  'of an app of GitHub': () => checked('ghs'),
  'of npm': () => checked('npm'),
  'of PyPI': macaroon,
  'in PEM': pem,
  'in PEM, in JSON': () => JSON.stringify({ private_key: pem() }),
  'in OpenSSH’s form': openssh,
};

/** Known by their form alone. */
export const LIKELY: Readonly<Record<string, () => string>> = {
  'fine-grained, of GitHub': () => `github_pat_${word(22)}_${word(59)}`,
  'of GitHub, with another checksum': () => `${checked('ghp').slice(0, -1)}_`,
  'of GitLab': () => `glpat-${word(20)}`,
  'of a runner of GitLab': () => `glrt-${word(20)}`,
  'of Slack': () => `xoxb-${word(12, '0123456789')}-${word(24)}`,
  'of AWS': () => `AKIA${word(16, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567')}`,
  'in an address': () => `https://ada:${word(12)}@git.org/x.git`,
  'of Gitea, in an address': () => `https://ada:${randomBytes(20).toString('hex')}@gitea.org/x.git`,
  'of Colab, in a notebook': () => `"userId": "${word(20, '0123456789')}"`,
  'of SSH, public': () => `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${word(43)} ada@laptop`,
};
