/**
 * How long the host may take for its report: a minute for a small pack, two for a large one, which
 * it has to check.
 */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ZERO_OID } from '../../../src/git/objects/oid.ts';
import type { PushReport } from '../../../src/host/git/git-answers.ts';
import type { GitTransport } from '../../../src/host/git/git-transport.ts';
import { upload } from '../../../src/host/git/upload.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const TARGET = {
  repository: { owner: 'bot', name: 'hello' },
  refName: 'refs/heads/anon-0123456789ab',
  oldTip: ZERO_OID,
  newTip: 'a'.repeat(40),
};

/** Takes everything, and never reports. */
const transport = {
  push: (_: unknown, body: ReadableStream<Uint8Array>): Promise<PushReport> => {
    void body.pipeTo(new WritableStream()).catch(() => {});
    return new Promise(() => {});
  },
} as unknown as GitTransport;

async function* pack(pieces: number): AsyncGenerator<Uint8Array> {
  for (let piece = 0; piece < pieces; piece++) yield new Uint8Array(64 * 1024);
}

it.each([
  ['small', 1, 60_000],
  ['large', 20, 120_000],
])('a host that hangs after a %s pack is given up after its time', async (_, pieces, patienceMs) => {
  const ended = vi.fn();
  const uploading = upload(transport, TARGET, pack(pieces), 30_000).catch(ended);
  await vi.advanceTimersByTimeAsync(patienceMs - 1);
  expect(ended).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  await uploading;
  expect(ended).toHaveBeenCalledWith(expect.objectContaining({ code: 'unreachable' }));
});
