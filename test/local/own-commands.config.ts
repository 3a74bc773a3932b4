/**
 * `npm run test:local NAME`: tests that are no part of `npm test`, because they need a registry or
 * programs that few machines have, or look at the code without running it.
 */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/local/{alerts,compose,container,first-minute,patterns}.ts'],
    // The containers of two files would have the same name.
    fileParallelism: false,
    // An installation downloads a few hundred megabytes.
    testTimeout: 15 * 60_000,
    hookTimeout: 30 * 60_000,
  },
});
