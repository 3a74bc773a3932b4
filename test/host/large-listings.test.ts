/** Large listings of history are read one at a time, also if a request dies in the middle of one. */
import { expect, it } from 'vitest';
import { GitTransport } from '../../src/host/git/git-transport.ts';
import { SmartHttp } from '../../src/host/git/smart-http.ts';
import { commitContent } from '../support/objects.ts';
import { buildPack } from '../support/pack-builder.ts';
import { piecesOf } from '../support/byte-chunks.ts';
import { FLUSH, pkt } from '../support/wire.ts';
import { PatientClock, ScriptedHost } from './support/scripted-host.ts';

const REPOSITORY = { owner: 'octo', name: 'hello' };
const MAX_BYTES = 8 * 1024 * 1024;

function listingOf(commits: number): Buffer {
  const entries = Array.from({ length: commits }, (_, i) => ({
    type: 'commit' as const,
    content: commitContent({ message: `Change ${i}\n` }),
  }));
  const bands = piecesOf(buildPack(entries).bytes, 60_000).map((piece) =>
    pkt(`\u0001${Buffer.from(piece).toString('latin1')}`),
  );
  return Buffer.from(pkt('packfile\n') + bands.join('') + FLUSH, 'latin1');
}

/** Each listing is made by a request of its own. */
function list(clock: PatientClock, body: BodyInit) {
  const http = new SmartHttp('https://host.test', null, new ScriptedHost(() => new Response(body)));
  const transport = new GitTransport(http, clock, null);
  return transport.listHistory(REPOSITORY, { wants: ['a'.repeat(40)] }, MAX_BYTES);
}

/** A body that stops before its end: `stopped` resolves once everything else is read. */
function stalling(bytes: Uint8Array) {
  const stopped = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  // Copies, because a stream takes away what it is given.
  const parts = [bytes.subarray(0, -100), bytes.subarray(-100)].map((part) => Uint8Array.from(part));
  const body = new ReadableStream({
    type: 'bytes',
    async pull(controller) {
      if (parts.length === 1) {
        stopped.resolve();
        await goOn.promise;
      }
      const part = parts.shift();
      if (part !== undefined) controller.enqueue(part);
      if (parts.length === 0) controller.close();
    },
  });
  return { body, stopped: stopped.promise, goOn: goOn.resolve };
}

it('a large listing waits for another one, small ones do not', async () => {
  const clock = new PatientClock();
  const large = listingOf(5_000);
  const { body, stopped, goOn } = stalling(large);
  const first = list(clock, body);
  await stopped;
  await expect(list(clock, listingOf(100))).resolves.toMatchObject({ kind: 'listed' });
  expect(clock.slept).toEqual([]);
  // The first one never goes on, as far as the second one can see.
  const second = await list(clock, large);
  expect({ ...second, commits: second.kind === 'listed' ? second.commits.length : 0 }).toEqual({
    kind: 'listed',
    commits: 5_000,
  });
  expect(clock.slept.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThan(29_000);
  goOn();
  await expect(first).resolves.toMatchObject({ kind: 'listed' });
});
