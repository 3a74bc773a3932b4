/**
 * A host under test with what nearly every test needs: a client whose answers are judged by
 * GitHub's description.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import type { NewRepository } from '../../../sandbox/host.ts';
import type { Sandbox } from '../../../sandbox/sandbox.ts';
import { git } from './git.ts';
import { problemsWith } from './openapi.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The body when it is an object. */
  readonly body: JsonObject;
  /** The body when it is a list. */
  readonly list: readonly JsonObject[];
}

export interface CallOptions {
  /** Default: the bot's token; null calls anonymously. */
  readonly token?: string | null;
  readonly headers?: Record<string, string>;
}

/** Calls the REST interface as the bot; the answer must be one that GitHub could give. */
export async function call(
  host: Sandbox,
  method: string,
  path: string,
  payload?: unknown,
  options: CallOptions = {},
): Promise<ApiAnswer> {
  const token = options.token === undefined ? host.botToken : options.token;
  const response = await fetch(host.apiUrl + path, {
    method,
    redirect: 'manual',
    headers: { ...(token !== null && { authorization: `token ${token}` }), ...options.headers },
    ...(payload !== undefined && { body: JSON.stringify(payload) }),
  });
  const text = await response.text();
  const body = text === '' ? null : (JSON.parse(text) as JsonObject | JsonObject[]);
  const pathOnly = decodeURIComponent(path.split('?')[0] ?? '');
  expect(problemsWith(method, pathOnly, response.status, body), `${method} ${path}: ${text}`).toEqual([]);
  const isList = Array.isArray(body);
  return {
    status: response.status,
    headers: response.headers,
    body: isList ? {} : (body ?? {}),
    list: isList ? body : [],
  };
}

/** Makes a repository whose `main` holds what the work tree has. */
export async function createFilled(host: Sandbox, workTree: string, wanted: NewRepository): Promise<void> {
  const path = host.createRepository(wanted);
  await git(workTree, 'push', '--quiet', path, `HEAD:refs/heads/${wanted.defaultBranch ?? 'main'}`);
}

/** Forks a repository and waits until the fork holds its objects; answers the fork's name. */
export async function fork(host: Sandbox, fullName: string): Promise<string> {
  const { body } = await call(host, 'POST', `/repos/${fullName}/forks`, {});
  const name = String(body['name']);
  const ready = async () => {
    const branches = await call(host, 'GET', `/repos/${host.botLogin}/${name}/branches`);
    return branches.list.length > 0;
  };
  while (!(await ready())) await delay(10);
  return name;
}

/** The address that a client pushes to with the bot's token. */
export function pushUrl(host: Sandbox, fullName: string): string {
  const url = new URL(`${host.url}/${fullName}.git`);
  url.username = 'x-access-token';
  url.password = host.botToken;
  return url.href;
}

/**
 * Pushes the work tree's HEAD to a branch of the bot's fork and opens a pull request; answers its
 * number.
 */
export async function openPull(
  host: Sandbox,
  workTree: string,
  upstream: string,
  branch: string,
): Promise<number> {
  const name = await fork(host, upstream);
  await git(workTree, 'push', '--quiet', pushUrl(host, `${host.botLogin}/${name}`), `HEAD:${branch}`);
  const { body, status } = await call(host, 'POST', `/repos/${upstream}/pulls`, {
    title: `From ${branch}`,
    body: 'Why',
    head: `${host.botLogin}:${branch}`,
    base: 'main',
  });
  expect(status).toBe(201);
  return Number(body['number']);
}
