/**
 * What a button of an operator alert carries in place of the password (contract, 2.9): good for one action, once, for
 * ten minutes. Only its hash is kept; as the token is random, a plain hash tells nothing of it.
 */
import { createHash, randomBytes } from 'node:crypto';

export const TOKEN_LIFE_MS = 10 * 60 * 1000;
const TOKEN_BYTES = 16;

export type Action = 'activate-panic' | 'rollback' | 'deactivate-panic' | `pardon ${string}`;

/** @param hash of the pseudonym: the token is good for no other. */
export function pardonOf(hash: string): Action {
  return `pardon ${hash}`;
}

/** 32 lower-case hex characters. */
export function newActionToken(): string {
  return randomBytes(TOKEN_BYTES).toString('hex');
}

export function tokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
