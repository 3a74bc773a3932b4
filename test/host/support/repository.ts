import type { Repository } from '../../../src/host/code-host.ts';

/** A public repository of the host that takes everybody's pull requests. */
export const REPOSITORY = {
  id: 7,
  networkId: 7,
  owner: 'octo',
  name: 'hello',
  isPrivate: false,
  isArchived: false,
  pullRequests: 'all',
  sizeKb: 1,
} as const satisfies Repository;
