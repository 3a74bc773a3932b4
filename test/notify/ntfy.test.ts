/** Publishing: what counts as taken. */
import { afterEach, expect, it, vi } from 'vitest';
import { publish } from '../../src/notify/ntfy.ts';

const NOTE = { topic: 'anon-pr-0123456789ab', title: 'Title', message: 'Text' };

/** A server that answers like this; a redirection leads to a page, if it is followed. */
function server(status: number) {
  return vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const { redirect } = new Request(input, init);
    const isFollowed = status >= 300 && status < 400 && redirect === 'follow';
    return new Response(null, { status: isFollowed ? 200 : status });
  });
}

afterEach(() => {
  vi.restoreAllMocks();
});

it('is done when the service has taken the message', async () => {
  const asked = server(200);
  await publish('https://ntfy.test', NOTE);
  expect(asked).toHaveBeenCalledTimes(1);
});

it.each([301, 302, 307, 429, 503])('is to be done again after the status %i', async (status) => {
  server(status);
  await expect(publish('https://ntfy.test', NOTE)).rejects.toThrow(String(status));
});
