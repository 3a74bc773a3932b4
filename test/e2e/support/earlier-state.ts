/**
 * Today's service and code host on a state that an earlier version has left, at a moment of that
 * day. No row of the service is changed: its clock is set back (set-back-worker.ts), and so is the
 * code host's.
 */
import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { readConfig, type WorkerBuild } from '../../../local/deploy/build.ts';
import { bundleWorker } from '../../../local/deploy/esbuild.ts';
import { type Service, startService } from '../../../local/runtime/service.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../../sandbox/sandbox.ts';
import type { Facts } from '../state-1.0.0/facts.ts';
import { builtWorker } from './built-worker.ts';

const SET_BACK_WORKER = 'test/e2e/support/set-back-worker.ts';
const PORT_ATTEMPTS = 300;
const PORT_PAUSE_MS = 200;

/**
 * Times that the platform compares with its own clock: of the next alarm of an object, of the
 * alarms of all objects, and when an entry of KV expires. The tables are workerd's and miniflare's.
 */
const PLATFORM_TIMES = [
  { folder: 'do', table: '_cf_METADATA', column: 'value', where: 'key = 1', perSecond: 10n ** 9n },
  { folder: 'do', table: '_cf_ALARM', column: 'scheduled_time', where: 'true', perSecond: 10n ** 9n },
  { folder: 'kv', table: '_mf_entries', column: 'expiration', where: 'true', perSecond: 1000n },
];

export class EarlierState {
  readonly sandbox: Sandbox;
  readonly service: Service;
  /** Folders with the repositories of those who have contributed. */
  readonly people: string;
  readonly #folder: string;
  readonly #behindMs: number;

  private constructor(folder: string, behindMs: number, sandbox: Sandbox, service: Service) {
    this.#folder = folder;
    this.#behindMs = behindMs;
    this.people = join(folder, 'people');
    this.sandbox = sandbox;
    this.service = service;
  }

  /**
   * Unpacks the archive, and starts both on the copy.
   * @param afterMs how long the service had not run.
   */
  static async start(archive: string, facts: Facts, afterMs: number): Promise<EarlierState> {
    const behindMs = Date.now() - Date.parse(facts.savedAt) - afterMs;
    const folder = mkdtempSync(join(tmpdir(), 'gitveil-earlier-'));
    // Git trusts no folder of somebody else.
    execFileSync('tar', ['-xz', '--no-same-owner', '-f', archive, '-C', folder]);
    const stateDir = join(folder, 'state');
    movePlatformTimes(stateDir, behindMs);
    const { botLogin, botToken, hostPort, adminTopic, panicPassword } = facts;
    const now = (): Date => new Date(Date.now() - behindMs);
    const sandbox = await startHost({ port: hostPort, dir: join(folder, 'host'), botLogin, botToken, now });
    const service = await startService({
      build: await (build ??= buildSetBack()),
      stateDir,
      env: {
        HOSTING_URL: sandbox.url,
        HOSTING_API_URL: sandbox.apiUrl,
        HOSTING_TOKEN: botToken,
        NOTIFY_BASE_URL: sandbox.notifyUrl,
        NOTIFY_ADMIN_TOPIC: adminTopic,
        PANIC_PASSWORD: panicPassword,
        CLOCK_BEHIND_MS: String(behindMs),
      },
      writeLog: () => {},
    }).catch(async (error: unknown) => {
      await sandbox.close();
      throw error;
    });
    return new EarlierState(folder, behindMs, sandbox, service);
  }

  /** By the clock of the service; milliseconds since 1970. */
  now(): number {
    return Date.now() - this.#behindMs;
  }

  async stop(): Promise<void> {
    await this.service.dispose();
    await this.sandbox.close();
    rmSync(this.#folder, { recursive: true });
  }
}

let build: Promise<WorkerBuild> | null = null;

/** The Worker whose clock is behind by CLOCK_BEHIND_MS; with a negative number, ahead. */
export async function buildSetBack(): Promise<WorkerBuild> {
  const config = await readConfig();
  return { ...builtWorker(), script: await bundleWorker({ ...config, main: SET_BACK_WORKER }) };
}

/** The state knows the host by its port, which another run of this test may use for a while. */
async function startHost(options: SandboxOptions): Promise<Sandbox> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startSandbox(options);
    } catch (error) {
      const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
      if (!isTaken || attempt === PORT_ATTEMPTS) throw error;
      await wait(PORT_PAUSE_MS);
    }
  }
}

export function movePlatformTimes(stateDir: string, behindMs: number): void {
  const behind = BigInt(Math.round(behindMs / 1000));
  for (const { folder, table, column, where, perSecond } of PLATFORM_TIMES) {
    for (const file of globSync(`${folder}/*/*.sqlite`, { cwd: stateDir })) {
      const database = new DatabaseSync(join(stateDir, file));
      const isThere = database.prepare('SELECT 1 FROM sqlite_master WHERE name = ?').get(table);
      const move = `UPDATE ${table} SET ${column} = ${column} + ? WHERE ${where}`;
      if (isThere !== undefined) database.prepare(move).run(behind * perSecond);
      database.close();
    }
  }
}
