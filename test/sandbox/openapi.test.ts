/** The judge itself: tests that rely on it are worth nothing unless it can say no. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { Workshop } from './support/git.ts';
import type { JsonObject } from './support/host.ts';
import { call, createFilled } from './support/host.ts';
import { problemsWith } from './support/openapi.ts';

const PATH = '/repos/octocat/hello';
const workshop = new Workshop();
let host: Sandbox;
let right: JsonObject;

beforeAll(async () => {
  host = await startSandbox();
  await createFilled(host, await workshop.workTree(), { owner: 'octocat', name: 'hello' });
  right = (await call(host, 'GET', PATH)).body;
});

afterAll(async () => {
  await host.close();
  workshop.remove();
});

test('accepts an answer as GitHub describes it', () => {
  expect(problemsWith('GET', PATH, 200, right)).toEqual([]);
});

test.each<[string, (body: JsonObject) => unknown]>([
  ['a missing field', ({ default_branch: _dropped, ...rest }) => rest],
  ['a field of the wrong type', (body) => ({ ...body, size: '12' })],
  ['a made-up field', (body) => ({ ...body, defaultBranch: 'main' })],
  ['a wrong field inside an object', (body) => ({ ...body, owner: { login: 'octocat' } })],
  ['an address that is none', (body) => ({ ...body, html_url: 'octocat/hello' })],
  ['a date in another format', (body) => ({ ...body, created_at: '21 Nov 2026' })],
  ['a null that GitHub never gives', (body) => ({ ...body, full_name: null })],
  ['an error body under a success', () => ({ message: 'Not Found' })],
])('catches %s', (_what, spoil) => {
  expect(problemsWith('GET', PATH, 200, spoil(right))).not.toEqual([]);
});

test('catches a status that GitHub does not have', () => {
  expect(problemsWith('GET', PATH, 201, right)).not.toEqual([]);
});

test('says of a route that it does not know how to add it', () => {
  expect(problemsWith('POST', `${PATH}/nonsense`, 200, right)).toEqual([
    expect.stringMatching(
      /^there is no description of POST \/repos\/octocat\/hello\/nonsense: .* add it to OPERATIONS in test\/.* run "npx node /,
    ),
  ]);
});

test('catches an error body without its documentation', () => {
  expect(problemsWith('POST', `${PATH}/pulls`, 422, { message: 'Validation Failed' })).not.toEqual([]);
});
