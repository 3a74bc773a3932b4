/**
 * What a button of an operator alert contains instead of the password (contract, 2.9): valid for one action, once, for
 * ten minutes. Only its hash is stored. The token is random, so a plain hash reveals nothing about it.
 */
import { createHash, randomBytes } from 'node:crypto';

export const TOKEN_LIFE_MS = 10 * 60 * 1000;
const TOKEN_BYTES = 16;

export type Action = 'activate-panic' | 'rollback' | 'deactivate-panic' | 'review' | `pardon ${string}`;

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
