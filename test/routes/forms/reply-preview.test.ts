/** The preview of a reply: what it costs the ledger. */
import { applyD1Migrations, createExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeAll, expect, it, vi } from 'vitest';
import type { Env } from '../../../src/env.ts';
import { D1Ledger } from '../../../src/stats/d1-ledger.ts';
import worker from '../../../src/worker.ts';

const bindings = env as unknown as Env & { TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1] };
const REPLY = 'https://veil.test/v1/gh/octo/hello/reply';
const variables = { ...bindings, LIMIT_DISCOVERIES: '2/1m' };
const headers = { 'CF-Connecting-IP': '192.0.2.9', 'Content-Type': 'application/x-www-form-urlencoded' };

beforeAll(() => applyD1Migrations(bindings.DB, bindings.TEST_MIGRATIONS));

it('asks for the karma of known pseudonyms only, and as often as the client may clone', async () => {
  const asked = vi.spyOn(D1Ledger.prototype, 'karma').mockResolvedValue(4);
  const page = await (await worker.fetch(new Request(`${REPLY}?to=1`), variables)).text();
  const token = /name="token" value="([^"]+)"/.exec(page)?.[1] ?? '';
  const preview = async (userToken: string): Promise<string | undefined> => {
    const fields = { token, number: '1', body: 'Hi', user_token: userToken, step: 'preview' };
    const body = new URLSearchParams(fields).toString();
    const response = await worker.fetch(
      new Request(REPLY, { method: 'POST', headers, body }),
      variables,
      createExecutionContext(),
    );
    return /karma \((\d+)\)/.exec(await response.text())?.[1];
  };
  expect(await preview('')).toBe('1');
  expect(asked).not.toHaveBeenCalled();
  const karmas = [];
  for (let count = 0; count < 4; count++) karmas.push(await preview(`TOKEN${count}`));
  expect(karmas).toEqual(['5', '5', '1', '1']);
  expect(asked).toHaveBeenCalledTimes(2);
});
