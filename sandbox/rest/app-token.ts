/**
 * Checks how an App proves who it is: by a JSON Web Token (RFC 7519) that it has signed with its
 * key, or by the token of an installation. Sources of the refusals: octokit/auth-app.js#698 and
 * sigmavirus24/github3.py#1050 (`exp`), octokit/auth-app.js#146 (`iat`),
 * actions/create-github-app-token#153 (a key that is not the App's), octokit/rest.js#218 (another
 * number), octokit/octokit.rb#1307 (suspended).
 */
import { createPublicKey, verify } from 'node:crypto';
import { APP_GONE, APP_TOKEN_UNREADABLE, BAD_CREDENTIALS, INSTALLATION_SUSPENDED } from '../known-answers.ts';
import type { App } from '../records.ts';
import type { Apps, InstallationToken } from '../apps.ts';
import { Refusal, refusedAs } from './api-call.ts';

/** Longest life of such a token, by the host's clock. */
const LONGEST_LIFE_S = 600;

/** Refuses a token that is not the App's, or not of this time. */
export function requireSignedBy(app: App | null, token: string, now: Date): void {
  const [head = '', claims = '', signature = ''] = token.split('.');
  const { alg } = decoded(head);
  const { iss, iat, exp } = decoded(claims);
  if (alg !== 'RS256') throw refusedAs(APP_TOKEN_UNREADABLE);
  if (iss === undefined) throw new Refusal(401, "Missing 'issuer' claim ('iss') in assertion");
  if (app === null || (iss !== app.id && iss !== String(app.id))) throw refusedAs(APP_GONE);
  const signed = Buffer.from(`${head}.${claims}`);
  const key = createPublicKey(app.key);
  if (!verify('sha256', signed, key, Buffer.from(signature, 'base64url')))
    throw refusedAs(APP_TOKEN_UNREADABLE);
  requireTimely(iat, exp, now.getTime() / 1000);
}

function requireTimely(iat: unknown, exp: unknown, now: number): void {
  if (typeof exp !== 'number' || exp <= now) {
    const rule = 'must be a numeric value representing the future time at which the assertion expires';
    throw new Refusal(401, `'Expiration time' claim ('exp') ${rule}`);
  }
  if (typeof iat !== 'number' || !Number.isInteger(iat) || iat > now) {
    const rule = 'must be an Integer representing the time that the assertion was issued';
    throw new Refusal(401, `'Issued at' claim ('iat') ${rule}`);
  }
  if (exp > now + LONGEST_LIFE_S) {
    throw new Refusal(401, "'Expiration time' claim ('exp') is too far in the future");
  }
}

/** Finds an installation's token. Refuses one that has expired, or is not of this host. */
export function requireInstallationToken(apps: Apps, text: string): InstallationToken {
  const token = apps.token(text);
  if (token === undefined) throw refusedAs(BAD_CREDENTIALS);
  requireActive(token);
  return token;
}

export function requireActive({ installation }: Pick<InstallationToken, 'installation'>): void {
  if (installation.suspendedAt !== null) throw refusedAs(INSTALLATION_SUSPENDED);
}

function decoded(part: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;
  } catch {
    throw refusedAs(APP_TOKEN_UNREADABLE);
  }
}
