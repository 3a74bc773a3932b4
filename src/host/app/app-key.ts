/**
 * The private key of a GitHub App, and the tokens by which the App proves who it is
 * (docs.github.com/apps, "Generating a JSON Web Token"). GitHub gives the key in the form of
 * PKCS#1, and WebCrypto takes that of PKCS#8, which only adds a beginning.
 */
import { UnusableKey } from '../../git/objects/ssh-signature.ts';

const RSA = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' } as const;
/** Says in PKCS#8 that an RSA key follows: version, type, no parameters (RFC 5958, RFC 8017). */
const RSA_TYPE = Buffer.from('020100300d06092a864886f70d0101010500', 'hex');
const [SEQUENCE, OCTET_STRING] = [0x30, 0x04];
const [PKCS1, PKCS8] = ['RSA PRIVATE KEY', 'PRIVATE KEY'];

/** How far a token begins in the past, because the host's clock may be behind. */
const BACKDATED_S = 60;
/** The longest life that GitHub accepts from now on. Counted from the beginning, it is shorter. */
const LIFE_S = 10 * 60;

export class AppKey {
  readonly #pkcs8: Uint8Array;
  #key: Promise<CryptoKey> | null = null;

  /** @param pkcs8 has the key in the form of PKCS#8. */
  constructor(pkcs8: Uint8Array) {
    this.#pkcs8 = pkcs8;
  }

  /**
   * Makes a token for an App.
   * @param now is in milliseconds since 1970, by the host's clock.
   */
  async token(appId: number, now: number): Promise<string> {
    const beginsAt = Math.floor(now / 1000) - BACKDATED_S;
    const claims = { iat: beginsAt, exp: beginsAt + LIFE_S, iss: String(appId) };
    const signed = [{ alg: 'RS256', typ: 'JWT' }, claims].map(encoded).join('.');
    this.#key ??= crypto.subtle.importKey('pkcs8', this.#pkcs8, RSA, false, ['sign']);
    const signature = await crypto.subtle.sign(RSA, await this.#key, Buffer.from(signed));
    return `${signed}.${Buffer.from(signature).toString('base64url')}`;
  }
}

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/**
 * Reads an unencrypted RSA key. Its line breaks may be missing, or written as `\n`, because many
 * files of variables have one line for each.
 * @throws UnusableKey
 */
export function readAppKey(text: string): AppKey {
  const [, type] = /^\s*-----BEGIN ([A-Z0-9 ]{1,40})-----/.exec(text) ?? [];
  if (type === undefined) throw new UnusableKey('It is no private key');
  if (text.includes('ENCRYPTED')) throw new UnusableKey(ENCRYPTED);
  if (type !== PKCS1 && type !== PKCS8) throw new UnusableKey(`It is a key of another kind (${type})`);
  const [, body = ''] = /KEY-----([^-]*)-----END/.exec(text) ?? [];
  const der = Buffer.from(body.replaceAll(String.raw`\n`, ''), 'base64');
  const isRsa = type === PKCS1 || der.byteLength === 0 || der.subarray(0, 64).includes(RSA_TYPE);
  if (!isRsa) throw new UnusableKey('It is no RSA key');
  if (der.byteLength !== wholeLength(der)) throw new UnusableKey('It is incomplete');
  return new AppKey(type === PKCS1 ? inPkcs8(der) : der);
}

const ENCRYPTED =
  'It is encrypted. Decrypt it with `openssl rsa -in app.pem -out app-plain.pem`, and set the text of that file';

/** Gives the length that the beginning of a DER value says it has; Infinity if it is none. */
function wholeLength(der: Buffer): number {
  // Keys of RSA have between 256 and 65,535 bytes.
  return der[0] === SEQUENCE && der[1] === 0x82 ? 4 + der.readUInt16BE(2) : Infinity;
}

function inPkcs8(pkcs1: Uint8Array): Uint8Array {
  return tagged(SEQUENCE, Buffer.concat([RSA_TYPE, tagged(OCTET_STRING, pkcs1)]));
}

function tagged(tag: number, value: Uint8Array): Buffer {
  const head = Buffer.from([tag, 0x82, 0, 0]);
  head.writeUInt16BE(value.byteLength, 2);
  return Buffer.concat([head, value]);
}
