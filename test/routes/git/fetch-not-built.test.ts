/** A fetch whose request to the host cannot be built, because the machine has no memory left. */
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, expect, it, vi } from 'vitest';
import { HttpClient } from '../../../src/outgoing/http-client.ts';
import worker from '../../../src/worker.ts';
import { oidNumber } from '../../support/objects.ts';
import { FLUSH, pktText } from '../../support/pkt-line.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

it('is 500, and the host is not asked', async () => {
  vi.spyOn(console, 'log').mockImplementation(() => {});
  const host = vi.spyOn(HttpClient.prototype, 'fetch').mockRejectedValue(new TypeError('no network'));
  vi.spyOn(ArrayBuffer.prototype, 'transfer').mockImplementation(() => {
    throw new RangeError('Array buffer allocation failed');
  });
  const wants = Array.from({ length: 1_000 }, (_, at) => pktText(`want ${oidNumber(at)}\n`)).join('');
  const request = new Request('https://gitveil.test/v1/gh/octo/hello/git-upload-pack', {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-git-upload-pack-request', 'CF-Connecting-IP': '192.0.2.62' },
    body: `${wants}${FLUSH}${pktText('done\n')}`,
  });
  const context = createExecutionContext();
  const response = await worker.fetch(request, env, context);
  expect(response.status).toBe(500);
  expect(await response.json()).toEqual({ error: 'failed to build request' });
  await waitOnExecutionContext(context);
  expect(host).not.toHaveBeenCalled();
});
