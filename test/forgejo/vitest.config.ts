/**
 * `npm run test:forgejo`: the host's interface and the service's stories on a real Gitea, where Go
 * can build one.
 */
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { alias: { 'cloudflare:workers': join(import.meta.dirname, '../support/no-workers.ts') } },
  test: {
    include: ['test/forgejo/*.test.ts'],
    globalSetup: ['test/forgejo/support/setup.ts'],
    // Two of the stories at a time are as much as one Gitea with SQLite does well.
    maxWorkers: 2,
    testTimeout: 180_000,
    hookTimeout: 90_000,
    expect: { poll: { timeout: 30_000, interval: 25 } },
  },
});
