/**
 * `npm run test:clients`: every client that this machine has. `npm test` runs isomorphic-git's
 * column alone.
 */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/clients/*.test.ts'],
    // isomorphic-git's column has it in the other suites.
    tags: [{ name: 'exhaustive' }],
    globalSetup: ['test/e2e/support/worker-build.ts'],
    testTimeout: 180_000,
    hookTimeout: 90_000,
    expect: { poll: { timeout: 30_000, interval: 25 } },
  },
});
