/** Publishing: what counts as taken. */
import { expect, it, vi } from 'vitest';
import { publish } from '../../src/notify/ntfy.ts';
import type { Http } from '../../src/outgoing/http-client.ts';

const NOTE = { topic: 'anon-pr-0123456789ab', title: 'Title', message: 'Text' };

/** A server that answers like this; a redirection leads to a page, if it is followed. */
function server(status: number) {
  return {
    fetch: vi.fn<Http['fetch']>(async (_, init) => {
      const isFollowed = status >= 300 && status < 400 && init?.redirect !== 'manual';
      return new Response(null, { status: isFollowed ? 200 : status });
    }),
  };
}

it('is done when the service has taken the message', async () => {
  const http = server(200);
  await publish(http, 'https://ntfy.test', NOTE);
  expect(http.fetch).toHaveBeenCalledTimes(1);
});

it.each([301, 302, 307, 429, 503])('is to be done again after the status %i', async (status) => {
  await expect(publish(server(status), 'https://ntfy.test', NOTE)).rejects.toThrow(String(status));
});
