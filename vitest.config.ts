/**
 * Two kinds of tests: `worker` runs inside workerd, where the service's code runs; the other
 * projects drive the service from outside with a real Git client, and test the sandbox host, which
 * is a Node program.
 *
 * And two suites: `npm test` leaves out the tests that are marked as exhaustive
 * (test/support/exhaustive.ts).
 */
import { readFileSync, statfsSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-plugin';
import { defineConfig } from 'vitest/config';
import type { InlineConfig } from 'vitest/node';
import LongestFirst from './test/support/longest-first.ts';

/** Set by `npm run fuzz`. */
const fuzz = {
  factor: Number(process.env['FUZZ_FACTOR'] ?? 1),
  seed: process.env['FUZZ_SEED'] === undefined ? null : Number(process.env['FUZZ_SEED']),
};

const FUZZ_TIMEOUT_MS = 60 * 60_000;

/** Vitest refuses a tag that is not listed here. */
const tags = [
  {
    name: 'exhaustive',
    description: 'Takes long: left out by npm test, run by npm run test:all and CI.',
    // Some compute for half a minute, and on two busy cores for several times that.
    timeout: fuzz.factor > 1 ? FUZZ_TIMEOUT_MS : 5 * 60_000,
  },
];

const NO_HOST = { HOSTING_URL: 'http://127.0.0.1:9', HOSTING_API_URL: 'http://127.0.0.1:9' };

/**
 * Repositories and the state of services and objects live for seconds. In memory, nothing waits for
 * a disk: an object takes a tenth of the time.
 */
function temporaryFolder(): string {
  const inMemory = '/dev/shm';
  try {
    const { bavail, bsize } = statfsSync(inMemory);
    return bavail * bsize > LARGEST_STATE_BYTES ? inMemory : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** More than all tests at once need. */
const LARGEST_STATE_BYTES = 4 * 1024 ** 3;

process.env['TMPDIR'] = temporaryFolder();

// The C library gives each thread memory of its own and takes little of it back. A process of tests
// stays smaller without.
process.env['MALLOC_ARENA_MAX'] = '1';

const migrations = await readD1Migrations('migrations');

/** Each of these has a process of its own. */
const ALONE = [
  // They hold hundreds of megabytes, which would stay with the files after them.
  'test/clients/isomorphic-git.test.ts',
  'test/local/bundle.test.ts',
  // It names a certificate before it loads miniflare.
  'test/e2e/host/outgoing.test.ts',
  // It kills a service of its own, and ended once only after 90 seconds where it shared a process.
  'test/e2e/push/pr-kill.test.ts',
];

const BUILD = ['test/e2e/support/worker-build.ts'];
const FORK_SERVER = join(import.meta.dirname, 'test/support/fork-server/child-process.ts');

/** Tests that run real programs, outside workerd. */
function programs(
  name: string,
  options: Pick<InlineConfig, 'include' | 'exclude' | 'isolate' | 'globalSetup' | 'alias'>,
) {
  return {
    // The contract of the host's interface runs beside the hosts.
    resolve: { alias: { 'cloudflare:workers': join(import.meta.dirname, 'test/support/no-workers.ts') } },
    test: {
      name,
      tags,
      globalSetup: BUILD,
      ...options,
      // All cores are busy with these processes: threads that help each collect its garbage take a
      // twentieth more. And V8 would look for it whenever a process of 25 MB has grown by a third.
      execArgv: ['--single-threaded-gc', '--initial-old-space-size=256'],
      // On a busy machine each program takes its time.
      testTimeout: 90_000,
      hookTimeout: 90_000,
      expect: { poll: { timeout: 30_000, interval: 50 } },
    },
  };
}

export default defineConfig({
  test: {
    reporters: ['default', './test/support/left-out.ts'],
    sequence: { sequencer: LongestFirst },
    // Tests wait for programs as much as they compute: three times as many as a small machine has
    // cores keep it busy.
    maxWorkers: Math.max(6, availableParallelism()),
    projects: [
      {
        plugins: [
          cloudflareTest({
            wrangler: { configPath: './wrangler.toml' },
            miniflare: {
              // A code host that nobody has: a test that forgets to name its own reaches nothing.
              bindings: { TEST_MIGRATIONS: migrations, ...NO_HOST },
            },
          }),
        ],
        test: {
          name: 'worker',
          tags,
          include: ['test/**/*.test.ts'],
          exclude: ['test/{contract,e2e,sandbox,local,browser,clients,forgejo}/**'],
          provide: { fuzz, storageDocument: readFileSync('docs/storage.md', 'utf8') },
          // Importing the whole Worker again for each file would take longer than its tests do.
          // They compute, and wait for nothing: more processes would only import it more often.
          isolate: false,
          maxWorkers: Math.max(3, availableParallelism()),
          sequence: { groupOrder: 1 },
          setupFiles: ['test/support/leave-nothing.ts', 'test/support/same-inputs.ts'],
          // Nothing here waits for time to pass; a busy machine only takes longer.
          testTimeout: fuzz.factor > 1 ? FUZZ_TIMEOUT_MS : 30_000,
          hookTimeout: 30_000,
          expect: { poll: { timeout: 30_000, interval: 5 } },
        },
      },
      // A process for each file would load the same modules again, and V8 would compile them again.
      programs('node', {
        include: ['test/{sandbox,local,browser}/**/*.test.ts'],
        exclude: ALONE,
        isolate: false,
        globalSetup: [...BUILD, 'test/browser/support/one-chromium.ts'],
      }),
      // These start Git by the thousand: their processes stay small without the others' files.
      programs('git', {
        include: ['test/{contract,e2e}/**/*.test.ts'],
        exclude: ALONE,
        alias: { 'node:child_process': FORK_SERVER },
        isolate: false,
      }),
      // Of the clients only the one that is a package; `npm run test:clients` runs all.
      programs('alone', { include: ALONE }),
    ],
  },
});
