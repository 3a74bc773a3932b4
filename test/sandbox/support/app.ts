/** The App of a host under test: its own token, and those of its installations. */
import { sign } from 'node:crypto';
import { expect } from 'vitest';
import type { App } from '../../../sandbox/records.ts';
import type { Sandbox } from '../../../sandbox/sandbox.ts';
import { type ApiAnswer, call, type JsonObject } from './host.ts';

/** The permissions that the service needs of an App, and no more. */
export const PERMISSIONS = {
  contents: 'read',
  issues: 'write',
  metadata: 'read',
  pull_requests: 'write',
} as const;

interface Signed {
  /** Seconds since 1970, by the clock of whoever signs. */
  readonly now: number;
  readonly lifeS?: number;
  readonly issuer?: string;
  readonly key?: string;
}

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Signs a token as an App does, or wrongly. */
export function appToken(app: Pick<App, 'id' | 'key'>, signed: Signed): string {
  const { now, lifeS = 540, issuer = String(app.id), key = app.key } = signed;
  const text = `${part({ alg: 'RS256', typ: 'JWT' })}.${part({ iat: now - 60, exp: now + lifeS, iss: issuer })}`;
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`;
}

/** Calls as the App. */
export function callAsApp(
  host: Sandbox,
  method: string,
  path: string,
  token: string,
  payload?: unknown,
): Promise<ApiAnswer> {
  return call(host, method, path, payload, { token: null, headers: { authorization: `Bearer ${token}` } });
}

/** Makes a token of the installation in a repository. */
export async function installationToken(
  host: Sandbox,
  fullName: string,
  signed: Signed,
  narrowed: JsonObject = {},
): Promise<string> {
  const { app } = host.apps;
  if (app === null) throw new Error('the host has no App');
  const token = appToken(app, signed);
  const found = await callAsApp(host, 'GET', `/repos/${fullName}/installation`, token);
  const path = `/app/installations/${String(found.body['id'])}/access_tokens`;
  const made = await callAsApp(host, 'POST', path, token, narrowed);
  expect(made.status).toBe(201);
  return String(made.body['token']);
}
