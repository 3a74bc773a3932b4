/** The key of all hashes, asked for once: whatever becomes of the request that asks first. */
import { expect, it } from 'vitest';
import type { Env } from '../../src/env.ts';
import { serviceSecret } from '../../src/secret/open-secret.ts';

/**
 * A service whose object answers one question after the other like this; and how often it was
 * asked.
 */
function service(...answers: (() => Promise<string>)[]) {
  let asked = 0;
  const read = () => (answers[asked++] as () => Promise<string>)();
  const objects = { idFromName: () => 'id', get: () => ({ read }) };
  const env = { SERVICE_SECRET: objects } as unknown as Pick<Env, 'SERVICE_SECRET'>;
  return { read: () => serviceSecret(env, null), asked: () => asked };
}

it('is asked for once', async () => {
  const { read, asked } = service(async () => 'secret');
  expect([await read(), await read(), asked()]).toEqual(['secret', 'secret', 1]);
});

it('is asked for again after a failure', async () => {
  const { read } = service(
    () => Promise.reject(new Error('out of reach')),
    async () => 'secret',
  );
  await expect(read()).rejects.toThrow('out of reach');
  expect(await read()).toBe('secret');
});

it('does not wait for a request whose client has left: what that one asked for never comes', async () => {
  const { read } = service(
    () => new Promise<string>(() => {}),
    async () => 'secret',
  );
  void read();
  expect(await read()).toBe('secret');
});
