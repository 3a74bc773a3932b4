/** A warning that must not keep a push waiting. */
import { expect, it } from 'vitest';
import type { PushRun } from '../../../src/push/push-run.ts';
import { submoduleWarning } from '../../../src/push/publish/pull-request.ts';
import { hasSubmodules } from '../../../src/upstream/submodules.ts';

const REPOSITORY = { owner: 'octo', name: 'hello' };
const silence = () => new Promise<never>(() => {});

/** A host that answers nothing, and a clock by which every wait is over. */
const host = {
  clock: { now: () => 0, sleep: async () => {} },
  transport: { hostName: 'silent.test' },
  repositories: { file: silence, changedSubmodules: silence },
} as unknown as PushRun['host'];

it('is given up when the host does not answer in time', async () => {
  const logger = {} as PushRun['logger'];
  expect(await hasSubmodules(host, REPOSITORY)).toBe(false);
  expect((await submoduleWarning({ host, logger }, REPOSITORY, 1)).join()).toContain('could not check');
});
