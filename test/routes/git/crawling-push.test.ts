/**
 * A push whose bytes come slowly, at times of the test's choosing: what its person reads, or that
 * it is read to its end.
 */
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Env } from '../../../src/env.ts';
import { HttpClient } from '../../../src/outgoing/http-client.ts';
import worker from '../../../src/worker.ts';
import { commitContent } from '../../support/objects.ts';
import { buildPack } from '../../support/pack-builder.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { FLUSH, pktText, readReport } from '../../support/pkt-line.ts';

const bindings = env as unknown as Env;
const COMMANDS = `${pktText(`${'0'.repeat(40)} ${'a'.repeat(40)} refs/heads/fix\0 report-status side-band-64k`)}${FLUSH}`;
const MINUTE = 60_000;

let host: ReturnType<typeof vi.spyOn>;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  vi.spyOn(console, 'log').mockImplementation(() => {});
  host = vi.spyOn(HttpClient.prototype, 'fetch').mockRejectedValue(new TypeError('no network'));
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Sends so many bytes a second until there is an answer; what it says, and after which time. */
async function pushSlowly(bytes: Uint8Array, perSecond: number) {
  const { readable, writable } = new IdentityTransformStream();
  const writer = writable.getWriter();
  const startedAt = Date.now();
  const answered = { at: 0 };
  const context = createExecutionContext();
  const request = new Request('https://gitveil.test/v1/gh/octo/hello/git-receive-pack', {
    method: 'POST',
    headers: {
      'Content-Type': 'application/x-git-receive-pack-request',
      'CF-Connecting-IP': '192.0.2.61',
    },
    body: readable,
  });
  const answering = worker.fetch(request, { ...bindings, HOSTING_TOKEN: 'token' }, context);
  const answer = Promise.resolve(answering).finally(() => {
    answered.at = Date.now();
  });
  for (let sent = 0; sent < bytes.byteLength && answered.at === 0; sent += perSecond) {
    await vi.advanceTimersByTimeAsync(1_000);
    await writer.write(bytes.subarray(sent, sent + perSecond)).catch(() => {});
  }
  await writer.close().catch(() => {});
  const response = await answer;
  const said = readReport(new Uint8Array(await response.arrayBuffer()));
  await waitOnExecutionContext(context);
  return { status: response.status, said, ms: answered.at - startedAt };
}

function bodyOf(blobBytes: number): Uint8Array {
  const content = crypto.getRandomValues(new Uint8Array(Math.min(blobBytes, 65_536)));
  const blobs = Array.from({ length: Math.ceil(blobBytes / 65_536) }, () => ({
    type: 'blob' as const,
    content,
  }));
  const { bytes } = buildPack([{ type: 'commit', content: commitContent() }, ...blobs]);
  return Buffer.concat([Buffer.from(COMMANDS), bytes]);
}

it.each([1_024, 1_300])(
  'at %i bytes a second is ended in-band within six minutes',
  exhaustive,
  async (perSecond) => {
    const { status, said, ms } = await pushSlowly(bodyOf(1_000_000), perSecond);
    expect(ms).toBeGreaterThan(5 * MINUTE);
    expect(ms).toBeLessThan(6 * MINUTE);
    expect(status).toBe(200);
    expect(said.report[0]).toBe('unpack incomplete pack');
    expect(said.errors).toEqual(['push rejected: the push did not arrive completely']);
    expect(said.progress.join('\n')).toContain('less than 8 KiB a second for 5 minutes');
    expect(said.progress.join('\n')).toContain('push fewer commits at once or use a faster connection');
  },
);

it(
  'at 15 KB a second is read to its end, although 5 MB take it more than five minutes',
  exhaustive,
  async () => {
    const { said, ms } = await pushSlowly(bodyOf(5_000_000), 15_000);
    expect(ms).toBeGreaterThan(5 * MINUTE);
    // It gets as far as the host, which this test has none of.
    expect(said.report[0]).toBe('unpack ok');
    expect(host).toHaveBeenCalled();
  },
);
