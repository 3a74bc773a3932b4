/**
 * The key of all hashes of personal data, if the operator has set none (`IDENTITY_SECRET`): made
 * once, and stored.
 * Proved by test/local/export-secret.test.ts.
 */
import { DurableObject } from 'cloudflare:workers';
import type { Env } from '../env.ts';

const SECRET_BYTES = 32;

export class ServiceSecret extends DurableObject<Env> {
  /** Tells whether there is a secret, without making one. */
  isMade(): boolean {
    return this.ctx.storage.kv.get('secret') !== undefined;
  }

  /** Reads the secret, 64 hex characters, and makes it first if there is none. */
  read(): string {
    const { kv } = this.ctx.storage;
    const known = kv.get<string>('secret');
    if (known !== undefined) return known;
    const made = Buffer.from(crypto.getRandomValues(new Uint8Array(SECRET_BYTES))).toString('hex');
    kv.put('secret', made);
    return made;
  }
}
