/**
 * SSH signatures, as Git puts them in commits (OpenSSH's PROTOCOL.sshsig, namespace `git`), by an
 * Ed25519 key in OpenSSH's own format (PROTOCOL.key). Ed25519 draws nothing at random, so a commit
 * that is made again gets the same id.
 */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { latin1 } from '../bytes.ts';

const NAMESPACE = 'git';
const HASH = 'sha512';
const KEY_TYPE = 'ssh-ed25519';
const SIGNATURE_MAGIC = 'SSHSIG';
const SIGNATURE_VERSION = Uint8Array.of(0, 0, 0, 1);
/** The width at which ssh-keygen wraps a signature. */
const LINE_LENGTH = 70;

const KEY_MAGIC = 'openssh-key-v1\0';
const SEED_BYTES = 32;
/** Precedes the seed in the DER form of a private key (RFC 8410, 7). */
const DER_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Thrown for a private key that cannot be used. The message is a sentence for the operator. */
export class UnusableKey extends Error {}

export class SigningKey {
  /** The public key as in `authorized_keys`, without a comment. */
  readonly publicKey: string;
  readonly #private: KeyObject;
  readonly #publicBlob: Buffer;

  constructor(seed: Uint8Array) {
    this.#private = createPrivateKey({
      key: Buffer.concat([DER_PREFIX, seed]),
      format: 'der',
      type: 'pkcs8',
    });
    const { x = '' } = createPublicKey(this.#private).export({ format: 'jwk' });
    this.#publicBlob = Buffer.concat([sshString(KEY_TYPE), sshString(Buffer.from(x, 'base64url'))]);
    this.publicKey = `${KEY_TYPE} ${this.#publicBlob.toString('base64')}`;
  }

  /** Signs a commit. @param parts its content without the signature. */
  sign(...parts: readonly (string | Uint8Array)[]): Uint8Array {
    const hash = createHash(HASH);
    for (const part of parts) hash.update(part);
    const signed = [Buffer.from(SIGNATURE_MAGIC), ABOUT, sshString(hash.digest())];
    return sign(null, Buffer.concat(signed), this.#private);
  }

  /** Writes a signature as the `gpgsig` header, with the line feed at its end. */
  header(signature: Uint8Array): string {
    const named = Buffer.concat([sshString(KEY_TYPE), sshString(signature)]);
    const whole = [SIGNATURE_VERSION, sshString(this.#publicBlob), ABOUT, sshString(named)];
    const base64 = Buffer.concat([Buffer.from(SIGNATURE_MAGIC), ...whole]).toString('base64');
    const lines = ['-----BEGIN SSH SIGNATURE-----'];
    for (let at = 0; at < base64.length; at += LINE_LENGTH) lines.push(base64.slice(at, at + LINE_LENGTH));
    // The lines of a header after its first one begin with a space.
    return `gpgsig ${[...lines, '-----END SSH SIGNATURE-----'].join('\n ')}\n`;
  }
}

/** Encodes a `string` of SSH (RFC 4251, 5): its length in 32 bits, and its bytes. */
function sshString(value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.byteLength);
  return Buffer.concat([length, bytes]);
}

/** Namespace, hash and, between them, a reserved string, as every signature has them. */
const ABOUT = Buffer.concat([NAMESPACE, '', HASH].map(sshString));

/**
 * Reads an unencrypted private key. Its line breaks may be missing, or written as `\n`, because
 * many files of variables have one line for each.
 * @throws UnusableKey
 */
export function readSigningKey(text: string): SigningKey {
  const [, type, body = ''] = /^\s*-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END/.exec(text) ?? [];
  if (type === undefined) throw new UnusableKey(keyTypeFault(text));
  if (type !== 'OPENSSH PRIVATE KEY') throw new UnusableKey('It is not in the format of OpenSSH');
  const fields = new Fields(Buffer.from(body.replaceAll('\\n', ''), 'base64'));
  if (latin1(fields.take(KEY_MAGIC.length)) !== KEY_MAGIC) throw incomplete();
  const [cipher] = [fields.text(), fields.string(), fields.string()];
  if (cipher !== 'none') throw new UnusableKey('It is encrypted');
  if (fields.number() !== 1) throw incomplete();
  const publicBlob = fields.string();
  const keyType = new Fields(publicBlob).text();
  if (keyType !== KEY_TYPE) throw new UnusableKey('It is no Ed25519 key');
  return privateKeyOf(new Fields(fields.string()), publicBlob);
}

function keyTypeFault(text: string): string {
  if (/^\s*(?:ssh|ecdsa|sk)-/.test(text)) return 'It is a public key';
  return text.includes('-----BEGIN ') ? 'It is incomplete' : 'It is no private key';
}

const incomplete = (): UnusableKey => new UnusableKey('It is incomplete');

/** Reads the part that can be encrypted. It begins with a number that stands there twice. */
function privateKeyOf(fields: Fields, publicBlob: Uint8Array): SigningKey {
  const isWhole = fields.number() === fields.number() && fields.text() === KEY_TYPE;
  fields.string();
  const key = new SigningKey(new Fields(fields.string()).take(SEED_BYTES));
  const publicKey = `${KEY_TYPE} ${Buffer.from(publicBlob).toString('base64')}`;
  if (!isWhole || key.publicKey !== publicKey) throw incomplete();
  return key;
}

/** Takes the fields of SSH's binary formats one after the other. */
class Fields {
  #left: Buffer;

  constructor(bytes: Uint8Array) {
    this.#left = Buffer.from(bytes);
  }

  /** @throws UnusableKey if there are fewer bytes. */
  take(length: number): Buffer {
    if (length > this.#left.byteLength) throw incomplete();
    const taken = this.#left.subarray(0, length);
    this.#left = this.#left.subarray(length);
    return taken;
  }

  number(): number {
    return this.take(4).readUInt32BE();
  }

  string(): Buffer {
    return this.take(this.number());
  }

  text(): string {
    return latin1(this.string());
  }
}
