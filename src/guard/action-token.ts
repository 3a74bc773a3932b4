/**
 * What a button of an operator alert carries in place of the password (contract, 2.9): good for one action, once, for
 * ten minutes. Only its hash is kept; as the token is random, a plain hash tells nothing of it.
 */
import { createHash, randomBytes } from 'node:crypto';

export const TOKEN_LIFE_MS = 10 * 60 * 1000;
const TOKEN_BYTES = 16;

export const ACTIONS = ['activate-panic', 'rollback', 'deactivate-panic'] as const;
export type Action = (typeof ACTIONS)[number];

/** 32 lower-case hex characters. */
export function newActionToken(): string {
  return randomBytes(TOKEN_BYTES).toString('hex');
}

export function tokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
