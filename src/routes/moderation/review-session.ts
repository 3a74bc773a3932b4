/**
 * Who has shown to be the operator may see what is delayed for ten minutes: a cookie for that page only, which says until
 * when. Nothing is stored. The service's secret signs it.
 */
import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { REVIEW_PATH } from '../../notify/alert.ts';
import type { AppEnv } from '../../env.ts';
import { isAhead } from '../../isolate/clock.ts';
import { isSameSecret, keyedHash } from '../../secret/keyed-hash.ts';
import { serviceSecret } from '../../secret/open-secret.ts';
import { shownOrigin } from '../request/public-origin.ts';

const NAME = 'gitveil-review';
const LIFE_MS = 10 * 60 * 1000;
/** Milliseconds since 1970, and an HMAC. */
const PATTERN = /^(\d{1,15})-([0-9a-f]+)$/;

/** Puts the cookie into the answer. */
export async function beginReview(c: Context<AppEnv>): Promise<void> {
  const until = `${Date.now() + LIFE_MS}`;
  setCookie(c, NAME, `${until}-${await hashOf(c, until)}`, {
    path: REVIEW_PATH,
    httpOnly: true,
    sameSite: 'Strict',
    // A proxy in front may have terminated TLS.
    secure: shownOrigin(c.req.raw, c.var.config).startsWith('https:'),
    maxAge: LIFE_MS / 1000,
  });
}

/** Whether the request has a cookie that is still good. */
export async function mayReview(c: Context<AppEnv>): Promise<boolean> {
  const [, until = '', hash = ''] = PATTERN.exec(getCookie(c, NAME) ?? '') ?? [];
  if (!isAhead(Number(until), LIFE_MS, Date.now())) return false;
  return isSameSecret(hash, await hashOf(c, until));
}

async function hashOf(c: Context<AppEnv>, until: string): Promise<string> {
  return keyedHash(await serviceSecret(c.env, c.var.config.identitySecret), 'review', until);
}
