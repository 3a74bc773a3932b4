/**
 * Long answers of the REST interface, such as pages of comments, are counted in the isolate's
 * memory while they are read.
 */
import { expect, it } from 'vitest';
import { openThreads } from '../../src/host/open.ts';
import { isolateMemory } from '../../src/isolate/memory-budget.ts';
import { ACCOUNT } from './support/back-off.ts';
import { API, json, PatientClock, type Script, ScriptedHost } from './support/scripted-host.ts';

const MiB = 1024 * 1024;
const REPOSITORY = { owner: 'octo', name: 'hello' };
const COMMENT = { id: 5, user: { id: 1 }, html_url: 'https://host.test/c/5' };

/** A page with one comment, and what is held when its last bytes are asked for. */
function page(bytes: number, breaksOff = false) {
  const text = JSON.stringify([{ ...COMMENT, body: 'a'.repeat(bytes) }]);
  const parts = [text.slice(0, -10), text.slice(-10)].map((part) => new TextEncoder().encode(part));
  const seen = { heldBytes: 0 };
  const body = new ReadableStream({
    type: 'bytes',
    pull(controller) {
      const part = parts.shift() as Uint8Array;
      if (parts.length === 0) seen.heldBytes = isolateMemory.heldBytes;
      if (parts.length === 0 && breaksOff) return controller.error(new Error('broken'));
      controller.enqueue(part);
      if (parts.length === 0) controller.close();
    },
  });
  return { seen, response: new Response(body, { headers: { 'Content-Type': 'application/json' } }) };
}

function comments(response: Response) {
  const script: Script = ({ path }) =>
    path.endsWith('/user') ? json(200, { id: 1, login: 'bot' }) : response;
  const clock = new PatientClock();
  const threads = openThreads({
    kind: 'github',
    apiUrl: API,
    token: 'secret',
    ...ACCOUNT,
    http: new ScriptedHost(script),
    clock,
  });
  return threads.ownComments(REPOSITORY, 7, 0);
}

it('a long page is counted until it is read', async () => {
  const { seen, response } = page(3 * MiB);
  expect((await comments(response)).map(({ text }) => text.length)).toEqual([3 * MiB]);
  expect(seen.heldBytes).toBeGreaterThan(6 * MiB);
  expect(isolateMemory.heldBytes).toBe(0);
});

it('a long page that breaks off leaves nothing', async () => {
  const { seen, response } = page(3 * MiB, true);
  await expect(comments(response)).rejects.toMatchObject({ code: 'unreachable' });
  expect(seen.heldBytes).toBeGreaterThan(6 * MiB);
  expect(isolateMemory.heldBytes).toBe(0);
});

it('a short page costs nothing', async () => {
  const { seen, response } = page(100_000);
  expect(await comments(response)).toHaveLength(1);
  expect(seen.heldBytes).toBe(0);
});
