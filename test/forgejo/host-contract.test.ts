/** A real Gitea keeps the promises of the host's interface: one case for each of its rows. */
import { describe, inject } from 'vitest';
import { hostContract } from '../host/contract/contract.ts';
import { contractHost } from './support/contract-host.ts';
import type { GiteaAddress } from './support/gitea.ts';

const gitea = inject('gitea');

describe.skipIf(gitea === null)('Gitea', () => {
  hostContract('agit', () => contractHost(gitea as GiteaAddress));
});
