import { Hono } from 'hono';
import { expect, it } from 'vitest';
import { RememberingRouter } from '../../src/routes/remembering-router.ts';

it('finds each path by its own parameters and method, however often, and routes that come later', async () => {
  const app = new Hono({ router: new RememberingRouter() });
  app.get('/v1/pr/:hash', (c) => c.text(`pull request ${c.req.param('hash')}`));
  app.get('/v1/:host/:owner', (c) => c.text(`${c.req.param('host')} of ${c.req.param('owner')}`));
  const ask = async (path: string, method = 'GET') => (await app.request(path, { method })).text();
  for (let round = 0; round < 2; round++) {
    // More than are remembered.
    for (let index = 0; index < 300; index++) {
      expect(await ask(`/v1/pr/${index}`)).toBe(`pull request ${index}`);
      expect(await ask(`/v1/gh/${index}`)).toBe(`gh of ${index}`);
    }
    expect(await ask('/v1/pr/1', 'POST')).toBe('404 Not Found');
  }
  const router = new RememberingRouter<string>();
  expect(router.match('GET', '/late')[0]).toEqual([]);
  router.add('GET', '/late', 'found');
  expect(router.match('GET', '/late')[0]).toHaveLength(1);
});
