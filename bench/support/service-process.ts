/** Runs the service of one rig in a process of its own, whose child is workerd. */
import type { WorkerBuild } from '../../local/deploy/build.ts';
import { type Service, startService } from '../../local/runtime/service.ts';
import { answerQuestions } from './helper.ts';

export interface ServiceAddress {
  readonly url: string;
  readonly workerdPid: number;
}

let service: Service | null = null;

const actions = {
  async start({ build, env }: { build: WorkerBuild; env: Record<string, string> }): Promise<ServiceAddress> {
    service = await startService({ build, env, stateDir: null, writeLog: () => {} });
    return { url: service.url, workerdPid: service.workerdPid };
  },

  /** @param at milliseconds since 1970. */
  async runScheduled(at: number): Promise<void> {
    await service?.runScheduled(at);
  },
};

export type ServiceActions = typeof actions;

answerQuestions(actions, async () => {
  await service?.dispose();
});
