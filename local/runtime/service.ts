/**
 * Prepares and runs the service in one process, for tests and benchmarks. `npm start` uses two
 * programs.
 */
import { rm } from 'node:fs/promises';
import { type WorkerBuild, buildWorker } from '../deploy/build.ts';
import { claimPort } from './ports.ts';
import { prepareService } from './prepare-service.ts';
import { type RunOptions, type Service, runService } from './run-service.ts';
import { WorkerdFailure } from './workerd.ts';

export type { Service } from './run-service.ts';

export interface ServiceOptions extends Pick<RunOptions, 'env' | 'writeLog' | 'onFetch'> {
  /**
   * Default: the Worker is built now. To start several services, build once and pass the result to
   * each.
   */
  readonly build?: WorkerBuild;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Default: any free port. */
  readonly port?: number;
  /**
   * Folder of the Durable Objects, D1 and KV. `null`: in a temporary folder that is deleted with
   * the service.
   */
  readonly stateDir: string | null;
  /** The path of workerd. Default: the package's. */
  readonly program?: string;
  /** Whether `runScheduled` moves the time by which delayed pushes are due. Default: yes. */
  readonly isTriggerClock?: boolean;
}

const PORT_ATTEMPTS = 5;

/**
 * Starts a service and returns once it answers. Rejects with the system's error (`code` EADDRINUSE,
 * EACCES, EADDRNOTAVAIL) when it cannot listen where it should.
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { env, stateDir, program, isTriggerClock = true, host = '127.0.0.1', port = 0 } = options;
  let claimed = await claimPort(host, port);
  const build = options.build ?? (await buildWorker());
  const refusesFetch = options.onFetch !== undefined;
  const prepared = await prepareService({
    build,
    variables: Object.keys(env),
    stateDir,
    refusesFetch,
    isTriggerClock,
    ...(program !== undefined && { program }),
  });
  for (let attempt = 1; ; attempt++) {
    try {
      const service = await runService(prepared, { ...options, host, port: claimed });
      const dispose = async (): Promise<void> => {
        await service.dispose();
        await rm(prepared.folder, { recursive: true, force: true });
      };
      return { ...service, dispose };
    } catch (error) {
      // Another program may take a free port before workerd does. Then this tries another port.
      const isTaken = error instanceof WorkerdFailure && error.isAddressTaken;
      if (!isTaken || port !== 0 || attempt === PORT_ATTEMPTS) {
        await rm(prepared.folder, { recursive: true, force: true });
        throw error;
      }
      claimed = await claimPort(host, 0);
    }
  }
}
