/** `npm run test:first-minute`: not a part of `npm test`, because it needs the packages' registry. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/local/first-minute.ts'],
    // An installation downloads a few hundred megabytes.
    testTimeout: 15 * 60_000,
    hookTimeout: 60_000,
  },
});
