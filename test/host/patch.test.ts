/** The patch of a pull request: passed on as a stream, up to a limit, if it is one. */
import { expect, it } from 'vitest';
import type { HostKind } from '../../src/host/kinds.ts';
import { openRepositories } from '../../src/host/open.ts';
import { isolateMemory } from '../../src/isolate/memory-budget.ts';
import { ACCOUNT } from './support/back-off.ts';
import { API, json, PatientClock, type Script, ScriptedHost } from './support/scripted-host.ts';

const MiB = 1024 * 1024;
const REPOSITORY = { owner: 'octo', name: 'hello' };
const MBOX = 'From 0123456 Mon Sep 17 00:00:00 2001\n';

function patchFrom(script: Script, kind: HostKind = 'github') {
  const http = new ScriptedHost(script);
  const access = { kind, apiUrl: API, token: 'secret', ...ACCOUNT, http, clock: new PatientClock() };
  return { http, patch: openRepositories(access).patch(REPOSITORY, 7) };
}

/** So many MiB of a patch, made as they are read. */
function long(megabytes: number) {
  const seen = { made: 0, isCancelled: false };
  const body = new ReadableStream({
    type: 'bytes',
    pull(controller) {
      if (seen.made === megabytes) return controller.close();
      seen.made += 1;
      controller.enqueue(Buffer.from(MBOX.padEnd(MiB, 'x')));
    },
    cancel: () => void (seen.isCancelled = true),
  });
  return { seen, response: new Response(body, { headers: { 'Content-Type': 'text/plain; charset=utf-8' } }) };
}

it.each([
  ['github', '/repos/octo/hello/pulls/7', 'application/vnd.github.patch'],
  ['forgejo', '/repos/octo/hello/pulls/7.patch?binary=true', 'application/vnd.github.v3+json'],
] as const)('is asked for as %s has it', async (kind, path, accept) => {
  const { http, patch } = patchFrom(() => new Response(MBOX), kind);
  expect(await new Response(await patch).text()).toBe(MBOX);
  expect(http.asked.map((asked) => [asked.method, asked.path, asked.headers.get('Accept')])).toEqual([
    ['GET', path, accept],
  ]);
});

it('streams: what is not read is not asked for, and nothing is kept in memory', async () => {
  const { seen, response } = long(12);
  const stream = await patchFrom(() => response).patch;
  expect(seen.made).toBeLessThan(4);
  expect(isolateMemory.heldBytes).toBe(0);
  expect((await new Response(stream).arrayBuffer()).byteLength).toBe(12 * MiB);
});

it('over the limit breaks off, and the host is not read any further', async () => {
  const { seen, response } = long(40);
  const stream = await patchFrom(() => response).patch;
  await expect(new Response(stream).arrayBuffer()).rejects.toThrow();
  expect(seen.made).toBeLessThan(20);
  expect(seen.isCancelled).toBe(true);
});

it('that a reader leaves is not read any further', async () => {
  const { seen, response } = long(12);
  await (await patchFrom(() => response).patch).cancel();
  expect(seen.isCancelled).toBe(true);
});

it('may be empty, as of merges alone', async () => {
  expect(await new Response(await patchFrom(() => new Response('')).patch).text()).toBe('');
});

it.each([
  ['a page', () => new Response('<html>'), 'unreachable'],
  ['JSON', () => json(200, {}), 'unreachable'],
  ['too long a patch', () => json(406, { message: 'the diff exceeded' }), 'refused'],
  ['nothing', () => json(404, {}), 'missing'],
  ['an error of 33 MiB', () => new Response('x'.repeat(33 * MiB), { status: 422 }), 'unreachable'],
])('is not taken from %s', async (_, script, code) => {
  await expect(patchFrom(script).patch).rejects.toMatchObject({ code });
});
