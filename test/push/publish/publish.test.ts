/** Publishing, without a host: the commits that leave are made once. */
import { expect, it, vi } from 'vitest';
import { undatedOf } from '../../../src/durable/pull-request/record.ts';
import { UNCOUNTED } from '../../../src/git/memory.ts';
import type { AnonymousCommits } from '../../../src/git/objects/anonymize.ts';
import { SigningKey } from '../../../src/git/objects/ssh-signature.ts';
import type { HostPullRequest } from '../../../src/host/code-host.ts';
import { systemClock } from '../../../src/isolate/clock.ts';
import { type Entered, publish } from '../../../src/push/publish/publish.ts';
import type { PushRun } from '../../../src/push/push-run.ts';
import { REPOSITORY } from '../../host/support/repository.ts';
import { knownPush } from '../../support/known-push.ts';

const PR_HASH = '0123456789ab';
const BOT = { name: 'bot', email: 'bot@x.example' };
const COUNTS = { added: 1, changed: 0, dropped: 0 };
const PULL = {
  number: 3,
  url: 'https://host.test/octo/hello/pull/3',
  isOpen: true,
  fork: { owner: 'bot', name: 'hello' },
} as HostPullRequest;

it('an update is compared by the commits that leave, before they do, and each is signed once', async () => {
  const signed = vi.spyOn(SigningKey.prototype, 'sign');
  const recorded: unknown[] = [];
  const steps: [string, AnonymousCommits][] = [];
  const record = async (...told: unknown[]): Promise<number> => {
    recorded.push(...told);
    return 0;
  };
  const run = {
    host: {
      hostKey: 'gh',
      transport: { hostName: 'host.test' },
      clock: systemClock,
      memory: UNCOUNTED,
      botLogin: async () => BOT.name,
    },
    settings: { signingKey: new SigningKey(new Uint8Array(32)), anonEmail: BOT.email },
    store: { pullRequest: () => ({ record }), addWorks: async () => {} },
    limits: { slot: async () => null },
  } as unknown as PushRun;
  const { pushed } = knownPush({ commits: [{ message: 'One\n' }, { message: 'Two\n' }] });
  const named = { prHash: PR_HASH, pullRequest: PULL, tip: 'a'.repeat(40) };
  const entered = {
    publication: {
      push: { ...pushed, prHash: PR_HASH, repository: REPOSITORY, footer: '', policyLimits: [], named },
      spool: { async *read() {} },
      pushHash: 'hash',
      claim: null,
      changes: async (leaving: AnonymousCommits) => {
        steps.push(['compared', leaving]);
        return { counts: COUNTS, dropped: [] };
      },
      compared: null,
      slot: null,
    },
    delivery: {
      hasEdited: false,
      failed: () => {},
      deliver: async ({ anonymous }: { readonly anonymous: AnonymousCommits }) => {
        steps.push(['delivered', anonymous]);
        return PULL;
      },
    },
    compared: { undated: undatedOf(pushed.commits, BOT), works: [], found: null },
    attempt: {
      onlyFrom: null,
      begin: async () => {
        return { prHash: PR_HASH, committedAt: 1, key: null, isRepeated: true, earlier: null };
      },
      mayGoOn: async () => {},
      finished: () => null,
      opened: () => {},
    },
  } as unknown as Entered;
  await publish(run, entered);
  expect(steps.map(([step]) => step)).toEqual(['compared', 'delivered']);
  expect(steps[0]![1]).toBe(steps[1]![1]);
  expect(signed).toHaveBeenCalledTimes(2);
  expect(recorded[1]).toMatchObject({ commits: COUNTS });
  signed.mockRestore();
});
