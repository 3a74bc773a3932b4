/** Writes to readers who read, stop, or leave: each ends, and says whether it was heard. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { longestWriteMs, TimedWriter } from '../../src/streams/timed-writer.ts';

const MiB = 1024 * 1024;
const BYTES = new Uint8Array(10);

function opened() {
  const { readable, writable } = new IdentityTransformStream();
  return { reader: readable.getReader(), writer: new TimedWriter(writable, 30_000) };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});

afterEach(() => {
  vi.useRealTimers();
});

describe('a timed writer', () => {
  it('is heard by a reader who reads, to the end', async () => {
    const { reader, writer } = opened();
    const writing = writer.write(BYTES);
    expect((await reader.read()).value).toEqual(BYTES);
    expect(await writing).toBe(true);
    const closing = writer.close();
    expect(await reader.read()).toMatchObject({ done: true });
    expect(await closing).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('waits for a slow reader, each time anew', async () => {
    const { reader, writer } = opened();
    for (let turn = 0; turn < 5; turn++) {
      const writing = writer.write(BYTES);
      await vi.advanceTimersByTimeAsync(29_000);
      await reader.read();
      expect(await writing).toBe(true);
    }
  });

  it('waits for what the buffers on the way hold, of which a slow reader has to read a third first', async () => {
    const { reader, writer } = opened();
    const writing = writer.write(new Uint8Array(MiB));
    for (let left = MiB; left > 0;) left -= (await reader.read()).value?.byteLength ?? left;
    expect(await writing).toBe(true);
    const next = writer.write(BYTES);
    await vi.advanceTimersByTimeAsync(149_000);
    await reader.read();
    expect(await next).toBe(true);
    expect([longestWriteMs(30_000, 0), longestWriteMs(30_000, 100 * MiB)]).toEqual([30_000, 270_000]);
  });

  it('gives up a reader who has stopped reading, and then waits no more', async () => {
    const { reader, writer } = opened();
    const writing = writer.write(BYTES);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await writing).toBe(false);
    expect(await writer.write(BYTES)).toBe(false);
    expect(await writer.close()).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
    // What comes too late does not pass for a whole answer.
    await expect(reader.read()).rejects.toThrow();
  });

  it('notices at once that the reader has left', async () => {
    const { reader, writer } = opened();
    await reader.cancel();
    expect(await writer.write(BYTES)).toBe(false);
    expect(await writer.close()).toBe(false);
  });
});
