/**
 * Tests with commands of their own, and no part of `npm test`: they need a registry or programs that few machines have, or
 * look at the code without running it.
 */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/local/{alerts,compose,container,first-minute,patterns}.ts'],
    // An installation downloads a few hundred megabytes.
    testTimeout: 15 * 60_000,
    hookTimeout: 30 * 60_000,
  },
});
