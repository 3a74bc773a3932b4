/** Responses that are read as a whole. */
import { describe, expect, it } from 'vitest';
import { wholeResponse } from '../../src/outgoing/response.ts';

/** A body that comes in pieces of one byte, and notes whether it was cancelled. */
function dripping(bytes: number): { body: ReadableStream<Uint8Array>; wasCancelled: () => boolean } {
  let left = bytes;
  let isCancelled = false;
  const body = new ReadableStream({
    type: 'bytes',
    pull(controller: ReadableByteStreamController) {
      if (left-- > 0) controller.enqueue(new Uint8Array([0x61]));
      else controller.close();
    },
    cancel() {
      isCancelled = true;
    },
  });
  return { body, wasCancelled: () => isCancelled };
}

describe('a response that is read as a whole', () => {
  it('keeps its status, header fields and body', async () => {
    const { body } = dripping(1000);
    const response = new Response(body, { status: 404, statusText: 'Not Here', headers: { Link: 'x' } });
    const whole = await wholeResponse(response, 1000);
    expect(whole).toMatchObject({ status: 404, statusText: 'Not Here' });
    expect(whole.headers.get('Link')).toBe('x');
    expect(await whole.text()).toBe('a'.repeat(1000));
  });

  it('may have no body', async () => {
    expect((await wholeResponse(new Response(null, { status: 204 }), 0)).body).toBeNull();
  });

  it('is an error if it is longer than allowed, and is not read further', async () => {
    const { body, wasCancelled } = dripping(1_000_000);
    await expect(wholeResponse(new Response(body), 999)).rejects.toMatchObject({ code: 'malformed' });
    expect(wasCancelled()).toBe(true);
  });

  it('is an error if it breaks off', async () => {
    const body = new ReadableStream({
      type: 'bytes',
      pull(controller: ReadableByteStreamController) {
        controller.error(new Error('the connection broke'));
      },
    });
    await expect(wholeResponse(new Response(body), 999)).rejects.toThrow('the connection broke');
  });
});
