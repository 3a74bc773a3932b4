import { expect, it } from 'vitest';
import { newPrHash } from '../../src/words/pr-hash.ts';

it('has twelve hex characters and never looks like a number, which JGit would count', () => {
  // Of so many, some seventeen would have no letter by chance.
  const hashes = Array.from({ length: 5_000 }, newPrHash);
  expect(hashes.filter((hash) => !/^(?=.*[a-f])[0-9a-f]{12}$/.test(hash))).toEqual([]);
  expect(new Set(hashes).size).toBe(hashes.length);
});
