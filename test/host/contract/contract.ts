/** Everything that `src/host/code-host.ts` promises, as cases that run against any host. */
import type { ContractHost } from './contract-host.ts';
import type { CodeHost } from '../../../src/host/open.ts';
import { activityContract } from './activity.ts';
import { agitContract } from './agit.ts';
import { forksContract } from './forks.ts';
import { privateReportsContract } from './private-reports.ts';
import { pullRequestsContract } from './pull-requests.ts';
import { repositoriesContract } from './repositories.ts';
import { threadsContract } from './threads.ts';
import { World } from './world.ts';

/** To be called while tests are collected. @param host asked for when the first test runs. */
export function hostContract(flow: CodeHost['flow'], host: () => ContractHost): void {
  let opened: World | null = null;
  const world = () => (opened ??= new World(host()));
  repositoriesContract(world);
  if (flow === 'fork') forksContract(world);
  else agitContract(world);
  pullRequestsContract(world);
  threadsContract(world);
  privateReportsContract(flow, world);
  activityContract(world);
}
